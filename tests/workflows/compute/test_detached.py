"""A detached sweep continues on its scheduler; the cube is enough to follow and cancel it."""

import json
import os
from pathlib import Path

import pytest
import xarray as xr
from distributed import Client, Scheduler

from storage import open_cube, read_ledger
from tests.faults import Faults, Program, scheduler_and_workers, small_sweep, wait_until
from tests.storage.made_up import comparable
from tests.workflows.commands import imwk
from workflows import submit

pytestmark = pytest.mark.slow

SPEC = small_sweep(3)
TILES = len(SPEC.tiles)
#: A tile that killed its worker this often is tried alone, and then marked as failed.
ONE_DEATH = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    file = tmp_path / "spec.toml"
    file.write_text(SPEC.to_toml())
    return file


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    return tmp_path / "cube.zarr"


def status(cube: Path) -> dict[str, int]:
    facts = json.loads(imwk("status", cube, "--json").output)
    return {name: facts[name] for name in ("done", "failed", "missing")}


def tasks_of(address: str) -> int:
    def count(dask_scheduler: Scheduler) -> int:
        return len(dask_scheduler.tasks)

    with Client(address, set_as_default=False) as client:
        return int(client.run_on_scheduler(count))


def test_a_detached_sweep_continues_and_marks_failed_tiles(
    spec_file: Path, cube: Path, tmp_path: Path
) -> None:
    poisoned = SPEC.tiles[5]
    faults = Faults(str(cube), str(tmp_path / "calls.log"), sleep=0.1, kills=str(poisoned))
    environment = faults.environment | ONE_DEATH
    with scheduler_and_workers(tmp_path, environment) as (address, _):
        command = ("imwk", "submit", spec_file, cube, "--scheduler", address, "--detach")
        code, output, errors = Program(*command, environment=dict(os.environ)).end()
        assert (code, errors) == (0, "")
        assert output.startswith(
            f"The scheduler computes {TILES} tiles. Follow the sweep with imwk status "
        )
        assert status(cube)["missing"] > TILES // 2  # the command did not wait
        wait_until(lambda: status(cube)["done"], "status follows", every=0.2)
        assert status(cube)["missing"] > 0
        wait_until(lambda: status(cube)["missing"] == 0, "the cube is full", every=0.5)
        wait_until(lambda: tasks_of(address) == 0, "the scheduler has no tasks", every=0.5)
    assert read_ledger(cube).failed == {
        poisoned: "Its worker died 2 times: it crashed, was killed or had too little memory."
    }
    assert imwk("retry", cube, "--workers", 1).exit_code == 0
    submit(SPEC, tmp_path / "serial.zarr", workers=0)
    xr.testing.assert_identical(
        comparable(open_cube(cube)), comparable(open_cube(tmp_path / "serial.zarr"))
    )


def test_cancel_stops_sweeps_until_they_are_submitted_again(
    spec_file: Path, cube: Path, tmp_path: Path
) -> None:
    faults = Faults(str(cube), str(tmp_path / "calls.log"), sleep=0.7)
    with scheduler_and_workers(tmp_path, faults.environment) as (address, _):
        run = ("submit", spec_file, cube, "--scheduler", address)
        detached = imwk(*run, "--detach", "--json")
        assert json.loads(detached.output) == {"event": "detached", "missing": TILES}
        faults.wait_for_calls(4)
        assert tasks_of(address) > 0
        cancel_and_wait(cube, address)
        stopped = len(faults.calls())
        assert 0 < status(cube)["done"] <= stopped < TILES
        attached = Program("imwk", *run, environment=faults.environment)
        faults.wait_for_calls(stopped + 4)
        cancel_and_wait(cube, address)
        code, output, errors = attached.end()
        assert (code, output) == (130, "")
        assert errors.splitlines()[-1] == (
            "Error: The sweep was cancelled. Tiles that are done are in the cube. Submit the "
            "sweep again to continue."
        )
    missing = status(cube)["missing"]
    assert 0 < missing < TILES
    quick = Faults(str(cube), str(tmp_path / "again.log"))
    again = Program("imwk", *run[:-2], environment=quick.environment)
    assert again.end()[0] == 0
    assert len(quick.calls()) == missing
    assert faults.computed_again() == quick.computed_again() == []
    assert status(cube) == {"done": TILES, "failed": 0, "missing": 0}


def cancel_and_wait(cube: Path, address: str) -> None:
    assert imwk("cancel", cube).output == (
        "Sweeps of this cube stop as soon as the blocks that are running have ended.\n"
    )
    wait_until(lambda: tasks_of(address) == 0, "the scheduler has no tasks", every=0.5)
