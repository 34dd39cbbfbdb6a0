"""A cube says where its results come from, and who made them it does not say."""

import getpass
import platform
from pathlib import Path

import numpy as np
import pytest
import zarr

from storage import (
    create_cube,
    environment,
    extend_cube,
    mark_failed,
    open_cube,
    read_provenance,
    record_run,
)
from tests.storage.made_up import fill, plain, small_spec
from tests.storage.processes import CONTEXT

SPEC = small_spec()


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return an empty cube."""
    create_cube(tmp_path / "cube.zarr", SPEC)
    return tmp_path / "cube.zarr"


def test_the_sweep_and_the_software_are_kept(cube: Path) -> None:
    record_run(cube, ["node1"])
    provenance = read_provenance(cube)
    assert provenance.spec == SPEC
    assert provenance.fingerprint == SPEC.fingerprint
    assert provenance.created <= provenance.updated
    (run,) = provenance.runs
    assert run["versions"]["numpy"] == np.__version__
    assert run["versions"]["zarr"] == zarr.__version__
    assert run["python"] == platform.python_version()
    assert run["cpu_features"]


def test_hosts_are_counted_over_runs_that_go_on_and_new_ones(cube: Path) -> None:
    first = record_run(cube, ["node1", "node2"])
    assert record_run(cube, ["node2", "node3"], first) == first
    record_run(cube, ["node1", "node4"])
    provenance = read_provenance(cube)
    assert (provenance.hosts, len(provenance.runs)) == (4, 2)


def test_runs_that_report_at_the_same_time_lose_nothing(cube: Path) -> None:
    runs = [CONTEXT.Process(target=record_run, args=(cube, [f"node{i}"])) for i in range(6)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    assert read_provenance(cube).hosts == 6


def test_runs_do_not_show_in_the_data(cube: Path) -> None:
    before = plain(cube)
    record_run(cube, ["node1"])
    assert plain(cube).identical(before)
    assert set(open_cube(cube)) == set(before)


def test_an_extension_keeps_when_the_cube_was_made(cube: Path) -> None:
    before = read_provenance(cube)
    record_run(cube, ["node1"])
    extend_cube(cube, small_spec(count=3))
    after = read_provenance(cube)
    assert (after.created, after.hosts) == (before.created, 1)
    assert after.fingerprint == small_spec(count=3).fingerprint != before.fingerprint


def test_no_names_of_hosts_users_or_folders_are_in_any_file(cube: Path) -> None:
    fill(cube, SPEC.tiles[1:])
    mark_failed(cube, SPEC.tiles[0], f"cannot write {cube}/imwk_ari nor {Path.home()}/data.csv")
    record_run(cube, [platform.node(), "node1.example.org"])
    secrets = [platform.node(), "node1.example.org", str(Path.home()), str(cube)]
    if len(getpass.getuser()) > 4:  # a short name may be part of any word
        secrets.append(getpass.getuser())
    for path in cube.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(secret.encode() in content for secret in secrets), path


def test_a_record_that_a_power_cut_emptied_is_left_out(cube: Path) -> None:
    damaged = record_run(cube, ["node1"])
    record_run(cube, ["node2"])
    (cube / "runs" / damaged / "zarr.json").write_bytes(b"")
    provenance = read_provenance(cube)
    assert (provenance.hosts, len(provenance.runs)) == (1, 1)


def test_processors_without_any_extension_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    # as NumPy does, which leaves out empty lists
    monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": {}, "mode": mode})
    assert environment()["cpu_features"] == []
