"""Sweeps in separate processes, which can be killed and stopped and whose blocks are counted."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

import psutil

from pipeline.spec import KEEP, PARTS, SweepSpec

SMALLEST = ["1000x6-3", "1000x6-3 +3NF", "1000x6-3 +3NNF", "1000x6-3 WCN"]


def small_sweep(count: int, parts: Sequence[str] = PARTS, keep: Sequence[str] = KEEP) -> SweepSpec:
    """Return a sweep of 8 tiles for each of `count` data sets, a few tenths of a second each."""
    return SweepSpec.model_validate(
        {
            "normalisations": ["range", "z-score"],
            "restarts": 2,
            "parts": parts,
            "keep": keep,
            "p1": [2],
            "p2": [2],
            "datasets": {"synthetic": {"configs": SMALLEST, "count": count}},
        }
    )


#: 72 tiles, a fiftieth of a second each.
SMALL_SWEEP = small_sweep(9, parts=["kmeans"])

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[1]

#: Seconds; much more than any test needs, even on a busy machine.
PATIENCE = 300


@dataclass(frozen=True)
class Faults:
    """The faults in the workers of a sweep, and the log of their blocks.

    Attributes
    ----------
    cube, log : str
        The cube, and a file that gets a line for each block that is computed.
    sleep : float
        Seconds by which each block is delayed.
    raises, kills, kills_writing : str
        The tile whose blocks raise on their first 2 calls, or always kill their worker; and the
        one whose first writer is killed when it has written some of its arrays.
    """

    cube: str
    log: str
    sleep: float = 0.0
    raises: str = ""
    kills: str = ""
    kills_writing: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that give workers these faults."""
        return os.environ | {
            "IMWK_FAULTS": json.dumps(asdict(self)),
            "DASK_DISTRIBUTED__WORKER__PRELOAD": "['tests.faulty_worker']",
            "PYTHONPATH": str(ROOT),
        }

    def calls(self) -> list[tuple[str, bool]]:
        """Return the blocks that were computed: the tile, and whether it was already done."""
        log = Path(self.log)
        lines = log.read_text().splitlines() if log.exists() else []
        return [(call["tile"], call["done"]) for call in map(json.loads, lines)]

    def wait_for_calls(self, count: int) -> None:
        """Wait until `count` blocks were computed."""
        wait_until(lambda: len(self.calls()) >= count, f"{count} blocks are computed")

    def calls_by_tile(self) -> Counter[str]:
        """Return the number of computed blocks of each tile."""
        return Counter(tile for tile, _ in self.calls())

    def computed_again(self) -> list[str]:
        """Return the tiles that were computed although they were done."""
        return [tile for tile, done in self.calls() if done]


class Program:
    """A command in its own process group, as a shell starts it."""

    def __init__(
        self,
        *command: str | Path,
        environment: dict[str, str] | None = None,
        home: Path | None = None,
    ) -> None:
        """Start the command; a `home` is its current folder and that of temporary files."""
        variables = dict(os.environ if environment is None else environment)
        if home is not None:
            home.mkdir()
            variables |= {"HOME": str(home), "TMPDIR": str(home)}
        self.process = subprocess.Popen(
            [BIN / str(command[0]), *map(str, command[1:])],
            env=variables,
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Tests in the background ignore Ctrl-C, and their child processes would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def end(self) -> tuple[int, str, str]:
        """Wait for the end; return exit code, output and errors."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, errors

    def workers(self) -> list[psutil.Process]:
        """Return its local worker processes."""
        try:
            family = psutil.Process(self.process.pid).children(recursive=True)
            return [one for one in family if "spawn_main" in " ".join(_command_line(one))]
        except psutil.NoSuchProcess:
            return []

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return self.process.poll() is None

    def interrupt(self) -> None:
        """Send Ctrl-C to all processes of the group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill only the program, as the system does when memory runs out."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def clean_up(self) -> None:
        """Kill all processes of the group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with self.process:  # closes its pipes
            pass


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def wait_until(condition: Callable[[], object], what: str, every: float = 0.02) -> None:
    """Wait until a condition is true, for at most `PATIENCE` seconds."""
    deadline = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < deadline, f"waited too long until {what}"
        sleep(every)


def _address_in(file: Path) -> str:
    """Return the address in a scheduler's file; empty as long as the file is not complete."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (FileNotFoundError, json.JSONDecodeError):
        return ""


@contextmanager
def scheduler_and_workers(
    folder: Path,
    environment: dict[str, str],
    *options: str,
    workers: tuple[dict[str, str], ...] = ({}, {}),
) -> Iterator[tuple[str, Program]]:
    """Start a scheduler and two workers by their commands; yield its address and the scheduler.

    Each worker has its own home folder. `options` are those of all three commands, such as for TLS;
    `workers` are environment variables of single workers.
    """
    file = folder / f"scheduler-{monotonic()}.json"
    where = ("--scheduler-file", file, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    programs = [Program("dask", "scheduler", *where, *options, environment=environment)]
    try:
        wait_until(lambda: _address_in(file), "the scheduler has started")
        address = _address_in(file)
        about = ("--nthreads", "1", "--no-dashboard", "--death-timeout", "60")
        for number, variables in enumerate(workers):
            home = folder / f"worker-{number}-{monotonic()}"
            command = ("dask", "worker", address, *about, *options)
            programs.append(Program(*command, environment=environment | variables, home=home))
        yield address, programs[0]
    finally:
        for program in reversed(programs):
            program.clean_up()
