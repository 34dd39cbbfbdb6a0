"""A cube records where its results come from, but no names of users or hosts."""

import getpass
import platform
from pathlib import Path

import numpy as np
import pytest
import zarr

from storage import create_cube, extend_cube, open_cube, read_provenance
from storage.provenance import environment, record_session
from storage.tiles import mark_failed
from tests.storage.made_up import fill, plain, small_spec
from tests.storage.processes import CONTEXT

SPEC = small_spec()


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return an empty cube."""
    create_cube(tmp_path / "cube.zarr", SPEC)
    return tmp_path / "cube.zarr"


def test_the_sweep_and_the_software_are_kept(cube: Path) -> None:
    record_session(cube, ["node1"])
    provenance = read_provenance(cube)
    assert provenance.spec == SPEC
    assert provenance.fingerprint == SPEC.fingerprint
    assert provenance.created <= provenance.updated
    (record,) = provenance.sessions
    assert record["versions"]["numpy"] == np.__version__
    assert record["versions"]["zarr"] == zarr.__version__
    assert record["python"] == platform.python_version()
    assert record["cpu_features"]


def test_hosts_are_counted_over_all_sessions(cube: Path) -> None:
    first = record_session(cube, ["node1", "node2"])
    assert record_session(cube, ["node2", "node3"], first) == first
    record_session(cube, ["node1", "node4"])
    provenance = read_provenance(cube)
    assert (provenance.hosts, len(provenance.sessions)) == (4, 2)


def test_sessions_that_record_at_the_same_time_lose_nothing(cube: Path) -> None:
    sessions = [CONTEXT.Process(target=record_session, args=(cube, [f"node{i}"])) for i in range(6)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join(60)
    assert read_provenance(cube).hosts == 6


def test_sessions_are_not_among_the_data(cube: Path) -> None:
    before = plain(cube)
    record_session(cube, ["node1"])
    assert plain(cube).identical(before)
    assert set(open_cube(cube)) == set(before)


def test_an_extension_keeps_the_time_of_creation(cube: Path) -> None:
    before = read_provenance(cube)
    record_session(cube, ["node1"])
    extend_cube(cube, small_spec(count=3))
    after = read_provenance(cube)
    assert (after.created, after.hosts) == (before.created, 1)
    assert after.fingerprint == small_spec(count=3).fingerprint != before.fingerprint


def test_no_names_of_hosts_users_or_folders_are_in_any_file(cube: Path) -> None:
    fill(cube, SPEC.tiles[1:])
    mark_failed(cube, SPEC.tiles[0], f"cannot write {cube}/imwk_ari nor {Path.home()}/data.csv")
    record_session(cube, [platform.node(), "node1.example.org"])
    secrets = [platform.node(), "node1.example.org", str(Path.home()), str(cube)]
    if len(getpass.getuser()) > 4:  # a short name may be part of another word
        secrets.append(getpass.getuser())
    for path in cube.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(secret.encode() in content for secret in secrets), path


def test_a_record_that_a_power_cut_emptied_is_left_out(cube: Path) -> None:
    damaged = record_session(cube, ["node1"])
    record_session(cube, ["node2"])
    (cube / "runs" / damaged / "zarr.json").write_bytes(b"")
    provenance = read_provenance(cube)
    assert (provenance.hosts, len(provenance.sessions)) == (1, 1)


def test_processors_without_any_extension_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    # NumPy leaves out empty lists
    monkeypatch.setattr(np, "show_config", lambda mode: {"SIMD Extensions": {}, "mode": mode})
    assert environment()["cpu_features"] == []
