"""Faults of processes do not change the cube, and no done tile is computed again."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import sleep

import pytest
import xarray as xr

from storage import open_cube, read_ledger, verify_cube
from tests.faults import (
    SMALL_SWEEP,
    Faults,
    Program,
    scheduler_and_workers,
    wait_until,
)
from tests.storage.made_up import assert_same_kept, comparable
from workflows import submit

TILES = len(SMALL_SWEEP.tiles)

Start = Callable[..., Program]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("undisturbed") / "cube.zarr"
    submit(SMALL_SWEEP, location, workers=0)
    return location


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    file = tmp_path / "spec.toml"
    file.write_text(SMALL_SWEEP.to_toml())
    return file


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    return tmp_path / "cube.zarr"


@pytest.fixture
def faults(tmp_path: Path, cube: Path) -> Faults:
    return Faults(str(cube), str(tmp_path / "calls.log"), sleep=0.2)


@pytest.fixture
def start(spec_file: Path) -> Iterator[Start]:
    """Yield a function that submits the sweep in a separate process."""
    programs: list[Program] = []

    def submit_with(faults: Faults, *options: str, **settings: str) -> Program:
        where = options or ("--workers", "2")
        environment = faults.environment | settings
        program = Program("imwk", "submit", spec_file, faults.cube, *where, environment=environment)
        programs.append(program)
        return program

    yield submit_with
    for program in programs:
        program.clean_up()


def assert_same_cube(cube: Path, undisturbed: Path) -> None:
    assert verify_cube(cube).damaged == {}
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(undisturbed)))
    assert_same_kept(cube, undisturbed)


def test_ctrl_c_stops_cleanly_and_the_next_submit_continues(
    start: Start, cube: Path, faults: Faults, undisturbed: Path
) -> None:
    program = start(faults)
    faults.wait_for_calls(10)
    program.interrupt()
    code, output, errors = program.end()
    assert code == 130
    assert output == ""
    assert errors.splitlines()[1:] == [
        "Interrupted. The tiles that are done are in the cube. Submit again to continue."
    ]
    assert 0 < read_ledger(cube).counts.done < TILES
    assert start(faults).end()[0] == 0
    assert_same_cube(cube, undisturbed)
    assert faults.computed_again() == []


def test_ctrl_c_while_workers_start_stops_cleanly(start: Start, faults: Faults) -> None:
    program = start(faults)
    wait_until(program.workers, "a worker starts")
    program.interrupt()
    assert program.end() == (
        130,
        "",
        "Interrupted. The tiles that are done are in the cube. Submit again to continue.\n",
    )


@pytest.mark.slow
def test_only_a_tile_that_kills_its_workers_fails_and_one_that_raises_twice_does_not(
    start: Start, cube: Path, tmp_path: Path, undisturbed: Path
) -> None:
    poisoned, shaky = SMALL_SWEEP.tiles[5], SMALL_SWEEP.tiles[20]
    faults = Faults(str(cube), str(tmp_path / "calls.log"), kills=str(poisoned), raises=str(shaky))
    program = start(faults, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    code, output, errors = program.end()
    assert code == 1
    assert read_ledger(cube).failed == {
        poisoned: "Its worker died 2 times: it crashed, was killed or had too little memory."
    }
    assert output.startswith(f"{TILES - 1} of {TILES} tiles done, 0 of them earlier; 1 failed")
    assert f"imwk retry {cube}" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert faults.calls_by_tile()[str(shaky)] == 3
    healthy = Faults(str(cube), str(tmp_path / "again.log"))
    again = Program("imwk", "retry", cube, "--workers", "1", environment=healthy.environment)
    assert again.end()[0] == 0
    assert healthy.calls_by_tile() == {str(poisoned): 1}
    assert_same_cube(cube, undisturbed)


@pytest.mark.slow
def test_30_kills_of_workers_change_nothing(
    start: Start, cube: Path, faults: Faults, undisturbed: Path
) -> None:
    random, kills = Random(30), 0
    program = start(faults, DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT="4s")
    faults.wait_for_calls(1)
    while kills < 30:
        sleep(random.uniform(0.2, 1.5))
        assert program.is_running, f"the sweep ended after {kills} kills"
        workers = program.workers()
        if workers:
            random.choice(workers).kill()
            kills += 1
    code, _, errors = program.end()
    assert (code, "Traceback" in errors) == (0, False)
    assert_same_cube(cube, undisturbed)
    assert faults.computed_again() == []


@pytest.mark.slow
def test_10_kills_of_the_program_change_nothing(
    start: Start, cube: Path, faults: Faults, undisturbed: Path
) -> None:
    random = Random(10)
    for _ in range(10):
        some = len(faults.calls()) + 4  # two workers have finished at least two of them
        program = start(faults)
        if random.random() < 0.8:  # the others are killed while they start
            faults.wait_for_calls(some)
        sleep(random.uniform(0.0, 0.6))
        assert program.is_running
        program.kill()
    code, output, _ = start(faults).end()
    assert code == 0
    assert f"{TILES} of {TILES} tiles done, 0 of them earlier" not in output
    assert_same_cube(cube, undisturbed)
    assert faults.computed_again() == []


@pytest.mark.slow
def test_a_killed_scheduler_is_one_error_and_the_next_submit_continues(
    start: Start, cube: Path, faults: Faults, tmp_path: Path, undisturbed: Path
) -> None:
    with scheduler_and_workers(tmp_path, faults.environment) as (address, scheduler):
        program = start(faults, "--scheduler", address)
        faults.wait_for_calls(10)
        scheduler.kill()
        code, _, errors = program.end()
        assert code == 3
        assert errors.splitlines()[1:] == [
            "Error: The connection to the scheduler was lost. Tiles that are done are safe in the "
            "cube. Start a scheduler and submit again."
        ]
    with scheduler_and_workers(tmp_path, faults.environment) as (address, _):
        assert start(faults, "--scheduler", address).end()[0] == 0
    assert_same_cube(cube, undisturbed)
    assert faults.computed_again() == []


@pytest.mark.slow
@pytest.mark.parametrize("ttl", ["2 seconds", "5 minutes"], ids=["given up", "waited for"])
def test_a_worker_that_stops_for_a_while_changes_nothing(
    start: Start, cube: Path, faults: Faults, undisturbed: Path, ttl: str
) -> None:
    program = start(faults, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=ttl)
    faults.wait_for_calls(5)
    stopped = program.workers()[0]
    stopped.send_signal(signal.SIGSTOP)
    sleep(6)
    if stopped.is_running():
        stopped.send_signal(signal.SIGCONT)
    assert program.end()[0] == 0
    assert_same_cube(cube, undisturbed)
    assert faults.computed_again() == []


@pytest.mark.slow
def test_two_submits_at_the_same_time_fill_one_cube(
    start: Start, cube: Path, faults: Faults, undisturbed: Path
) -> None:
    both = [start(faults, "--workers", "1") for _ in range(2)]
    ends = [program.end() for program in both]
    assert [code for code, _, _ in ends] == [0, 0]
    assert_same_cube(cube, undisturbed)
    assert max(faults.calls_by_tile().values()) <= 2  # once by each
