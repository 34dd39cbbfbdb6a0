"""A real SLURM with two virtual nodes on this machine, in a folder of its own."""

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.faults import wait_until
from tests.workflows.compute.seaweed import free_ports

#: If this variable is set, tests fail instead of being skipped without SLURM.
REQUIRED = "IMWK_REQUIRE_SLURM"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")


@dataclass(frozen=True)
class Slurm:
    """A running SLURM."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which its commands find it."""
        return os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: str) -> str:
        """Return the output of a command."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def running_jobs(self) -> dict[str, str]:
        """Return the node of each running job."""
        lines = self.run("squeue", "--noheader", "--states=RUNNING", "--format=%i %N").splitlines()
        return dict(line.split() for line in lines)

    def jobs(self) -> list[str]:
        """Return all jobs in the queue."""
        return self.run("squeue", "--noheader", "--format=%i").split()


def why_not() -> str | None:
    """Return why SLURM cannot be started on this machine, or None."""
    missing = [name for name in PROGRAMS if _program(name) is None]
    if missing:
        return f"SLURM is not installed: there is no {', '.join(missing)}"
    if os.geteuid() != 0:
        return "starting a SLURM needs the rights of root"
    if not socket.gethostbyname(socket.gethostname()).startswith("127."):
        return "the name of this host must stand for 127.0.0.1 in /etc/hosts"
    return None


@contextmanager
def slurm(folder: Path) -> Iterator[Slurm]:
    """Start SLURM. Skip the test if that is impossible and SLURM is not required."""
    reason = why_not()
    if reason:
        assert REQUIRED not in os.environ, reason
        pytest.skip(reason)
    started = Slurm(folder)
    _write_configuration(folder)
    try:
        _start_munge(folder)
        _daemon(started, "slurmctld")
        for node in ("n1", "n2"):
            _daemon(started, "slurmd", "-N", node)
        wait_until(lambda: "idle 2" in _states(started), "two nodes are idle")
        yield started
    finally:
        _end_jobs(started)
        _end_daemons(folder)


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def _write_configuration(folder: Path) -> None:
    host = socket.gethostname().split(".")[0]
    controller, first, second = free_ports(3)
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=2000"
        for name, port in (("n1", first), ("n2", second))
    )
    (folder / "slurm.conf").write_text(
        f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=0
{nodes}
PartitionName=debug Nodes=n1,n2 Default=YES State=UP
"""
    )
    for name in ("state", "munge"):
        (folder / name).mkdir()
    (folder / "munge").chmod(0o711)


def _start_munge(folder: Path) -> None:
    munge = folder / "munge"
    key = munge / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    program = _program("munged")
    assert program
    subprocess.run(
        [
            program,
            "--force",  # munge refuses folders that others can write, such as temporary ones
            f"--key-file={key}",
            f"--socket={munge}/socket",
            f"--pid-file={folder}/munged.pid",
            f"--log-file={munge}/log",
            f"--seed-file={munge}/seed",
        ],
        check=True,
        capture_output=True,
    )


def _daemon(started: Slurm, name: str, *options: str) -> None:
    program = _program(name)
    assert program
    started.run(program, *options)


def _states(started: Slurm) -> str:
    try:
        return started.run("sinfo", "--noheader", "--format=%t %D")
    except AssertionError:  # it is still starting
        return ""


def _end_jobs(started: Slurm) -> None:
    with suppress(AssertionError):  # it never started
        started.run("scancel", "--user=root", "--signal=KILL")
        started.run("scancel", "--user=root")
        wait_until(lambda: not started.jobs(), "all jobs have ended")


def _end_daemons(folder: Path) -> None:
    """End the daemons that were started here, by their process ids."""
    for file in folder.glob("*.pid"):
        with suppress(psutil.NoSuchProcess):
            daemon = psutil.Process(int(file.read_text()))
            daemon.kill()
            daemon.wait(10)
