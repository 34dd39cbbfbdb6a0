"""A sweep on a real SLURM gives the same cube after cancelled jobs and lost nodes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import xarray as xr

from storage import open_cube, verify_cube
from tests.faults import Faults, Program, small_sweep, wait_until
from tests.storage.made_up import comparable
from tests.workflows.compute.slurm import Slurm, slurm
from workflows import submit
from workflows.compute.worker_settings import QUIET, WORKER_ENVIRONMENT

pytestmark = pytest.mark.slow

SPEC = small_sweep(5)
#: Options of a job that fits on a small machine.
SMALL_JOBS = ("--batch", "slurm", "--cores", "1", "--memory", "700MB", "--interface", "lo")


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with slurm(tmp_path_factory.mktemp("slurm")) as started:
        yield started


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    file = tmp_path / "spec.toml"
    file.write_text(SPEC.to_toml())
    return file


def test_a_cancelled_job_and_a_lost_node_change_nothing(
    batch: Slurm, spec_file: Path, tmp_path: Path
) -> None:
    cube, serial, home = tmp_path / "cube.zarr", tmp_path / "serial.zarr", tmp_path / "home"
    faults = Faults(str(cube), str(tmp_path / "calls.log"), sleep=0.5)
    environment = (
        batch.environment
        | faults.environment
        | {"SLURM_CONF": batch.environment["SLURM_CONF"]}
        | {"DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "3s"}
    )
    options = ("--jobs", "2", "--walltime", "00:20:00", "--queue", "debug", "--wait", "5")
    command = ("imwk", "submit", spec_file, cube, *SMALL_JOBS, *options, "--log-directory", "logs")
    program = Program(*command, environment=environment, home=home)
    try:
        wait_until(lambda: len(batch.running_jobs()) == 2, "two jobs run")
        faults.wait_for_calls(5)
        cancelled, lost = batch.running_jobs()
        batch.run("scancel", cancelled)
        wait_until(lambda: cancelled not in batch.jobs(), "the job is gone")
        wait_until(lambda: len(batch.jobs()) == 2, "another job takes its place")
        node = batch.running_jobs()[lost]
        batch.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        wait_until(lambda: lost not in batch.running_jobs(), "the node's job is gone")
        assert program.is_running
        code, output, errors = program.end()
        assert node not in batch.running_jobs().values()
    finally:
        program.clean_up()
    batch.run("scontrol", "update", f"nodename={node}", "state=resume")
    assert (code, "Traceback" in errors) == (0, False), errors
    assert f"{len(SPEC.tiles)} of {len(SPEC.tiles)} tiles done" in output
    assert faults.computed_again() == []
    told = json.loads(Path(f"{faults.log}.told").read_text())
    assert told == QUIET | WORKER_ENVIRONMENT
    wait_until(lambda: not batch.jobs(), "no job is left in the queue")
    assert list(home.glob(".imwk-sweep-*")) == []  # certificates
    assert list(home.glob("*.out")) == []
    assert len(list((home / "logs").glob("imwk-sweep-*.err"))) >= 3  # two jobs, and one again
    submit(SPEC, serial, workers=0)
    assert verify_cube(cube).damaged == {}
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(serial)))


def test_without_a_worker_in_time_the_queue_and_the_job_script_are_shown(
    batch: Slurm, spec_file: Path, tmp_path: Path
) -> None:
    held = ("--wait", "0.1", "--walltime", "00:10:00")
    command = ("imwk", "submit", spec_file, tmp_path / "cube.zarr", *SMALL_JOBS, *held)
    batch.run("scontrol", "update", "partitionname=debug", "state=down")
    try:
        code, output, errors = Program(
            *command, environment=batch.environment, home=tmp_path / "home"
        ).end()
    finally:
        batch.run("scontrol", "update", "partitionname=debug", "state=up")
    assert (code, output) == (4, ""), errors
    assert errors.startswith("Error: No worker started within 0.1 minutes. Wait longer, ")
    assert errors.splitlines()[0].endswith(" See --wait.")
    assert "squeue --me says:" in errors
    assert "imwk-swe" in errors
    assert "#SBATCH -t 00:10:00" in errors
    wait_until(lambda: not batch.jobs(), "no job is left in the queue")


def test_a_job_that_slurm_refuses_is_an_error_at_once(
    batch: Slurm, spec_file: Path, tmp_path: Path
) -> None:
    command = ("imwk", "submit", spec_file, tmp_path / "cube.zarr", *SMALL_JOBS)
    code, output, errors = Program(
        *command,
        "--queue",
        "no-such-queue",
        environment=batch.environment,
        home=tmp_path / "home",
    ).end()
    assert (code, output) == (4, "")
    assert errors.startswith("Error: slurm refuses the job: ")
    assert "invalid partition" in errors
    assert "#SBATCH -p no-such-queue" in errors
    assert "Traceback" not in errors
