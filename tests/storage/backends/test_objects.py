"""Cubes in an object store work as in a folder, although nothing can be renamed there.

The store is that of obstore in memory; `tests/workflows/compute/test_object_store.py` has a server.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import obstore
import pytest
import xarray as xr

from pipeline.spec import KEEP, SweepSpec
from storage import (
    CubeError,
    CubeMismatchError,
    create_cube,
    extend_cube,
    labels,
    open_cube,
    read_ledger,
    read_provenance,
    read_spec,
    verify_cube,
)
from storage.backends.location import backend_at
from storage.backends.object_lock import LOCK
from storage.backends.objects import ObjectBackend
from storage.provenance import record_session
from storage.query.export import export_cube
from tests.storage.made_up import CONFIGS, assert_same_kept, comparable, fill, small_spec
from tests.storage.processes import Killed

SPEC = small_spec()
LARGER = small_spec(count=3, configs=CONFIGS, p1=[1.1, 1.3, 1.4, 2.0])
#: A sweep that keeps something, and one with another configuration.
KEEPING: dict[str, Any] = {"count": 1, "parts": ["kmeans", "imwk"], "keep": KEEP}
FEW, MORE = (small_spec(configs=CONFIGS[:size], **KEEPING) for size in (1, 2))


@pytest.fixture
def url() -> str:
    """Return a location where nothing is stored yet; only this process sees it."""
    return f"memory:///{uuid4().hex}/cube.zarr"


@pytest.fixture
def no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let locks that killed processes left be taken over at once."""
    monkeypatch.setattr("storage.backends.object_lock.LEASE", 0)


def objects(url: str) -> dict[str, bytes]:
    backend = backend_at(url)
    return backend.read_many(backend.keys(""))


def killed_after(steps: int, work: Callable[[], object]) -> bool:
    """Do `work`, but stop before its request number `steps`; return whether it was finished."""
    left, lock = [steps], Lock()

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **keywords: Any) -> Any:
            with lock:
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
            return change(*args, **keywords)

        return step

    with (
        patch.object(obstore, "put", counted(obstore.put)),
        patch.object(obstore, "delete", counted(obstore.delete)),
    ):
        try:
            work()
        except Killed:
            return False
    return True


@pytest.mark.parametrize(("spec", "larger"), [(SPEC, LARGER), (FEW, MORE)], ids=["all", "kept"])
def test_a_cube_is_extended_and_read_as_in_a_folder(
    url: str, tmp_path: Path, spec: SweepSpec, larger: SweepSpec
) -> None:
    for location in (url, str(tmp_path / "cube.zarr")):
        create_cube(location, spec)
        fill(location, spec.tiles[:-1])
        extend_cube(location, larger)
        fill(location)
        record_session(location, ["node1"])
    xr.testing.assert_identical(
        comparable(open_cube(url)), comparable(open_cube(tmp_path / "cube.zarr"))
    )
    assert_same_kept(url, tmp_path / "cube.zarr")
    assert read_ledger(url) == read_ledger(tmp_path / "cube.zarr")
    assert verify_cube(url) == verify_cube(tmp_path / "cube.zarr")
    assert read_provenance(url).hosts == 1
    assert export_cube(url, tmp_path / "a.csv") == export_cube(
        tmp_path / "cube.zarr", tmp_path / "b.csv"
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_plain_xarray_opens_it_with_and_without_consolidated_metadata(url: str) -> None:
    create_cube(url, SPEC)
    extend_cube(url, LARGER)
    one, other = (
        xr.open_zarr(backend_at(url).store(writable=False), consolidated=way).load()
        for way in (True, False)
    )
    xr.testing.assert_identical(one, other)


@pytest.mark.parametrize("array", ["imwk_ari", "kept/0/imwk_labels"])
def test_a_damaged_object_is_found_and_repaired(url: str, array: str) -> None:
    create_cube(url, FEW)
    fill(url)
    key = next(key for key in objects(url) if key.startswith(f"{array}/c."))
    backend_at(url).write({key: objects(url)[key][:-3]})
    assert len(verify_cube(url, repair=True).damaged) == 1
    assert len(read_ledger(url).todo) == 1
    fill(url)
    assert not verify_cube(url).damaged


def test_other_objects_are_not_changed(url: str) -> None:
    backend_at(url).write({"notes.txt": b"mine"})
    with pytest.raises(CubeError, match=r"contains other objects, such as notes\.txt"):
        create_cube(url, SPEC)
    assert objects(url) == {"notes.txt": b"mine"}


@pytest.mark.usefixtures("no_lease")
def test_a_creation_that_is_killed_at_any_request_leaves_no_cube_or_a_complete_one() -> None:
    found = set()
    for step in range(100):
        url = f"memory:///{uuid4().hex}"
        finished = killed_after(step, partial(create_cube, url, SPEC))
        found.add(backend_at(url).is_taken())
        if backend_at(url).is_taken():
            verify_cube(url)
        create_cube(url, SPEC)  # continues with the objects that exist
        assert len(read_ledger(url).todo) == 8
        if finished:
            break
    assert finished
    assert found == {False, True}


@pytest.mark.slow
@pytest.mark.usefixtures("no_lease")
def test_an_extension_that_is_killed_at_any_request_leaves_the_old_cube_or_the_new() -> None:
    found = set()
    for step in range(200):
        url = f"memory:///{uuid4().hex}"
        create_cube(url, FEW)
        fill(url)
        finished = killed_after(step, partial(extend_cube, url, MORE))
        ledger = read_ledger(url)
        assert set(ledger.states) in (set(FEW.tiles), set(MORE.tiles))
        assert open_cube(url).kmeans_ari.notnull().any("restart").sum() == len(FEW.tiles)
        labelled = labels(url, config=CONFIGS[0], part="kmeans").transpose("row", ...)[0] >= 0
        assert labelled.sum() == len(FEW.tiles)
        found.add(len(ledger.states))
        extend_cube(url, MORE)
        assert not verify_cube(url).damaged
        if finished:
            break
    assert finished
    assert found == {len(FEW.tiles), len(MORE.tiles)}


def test_processes_that_create_different_cubes_do_not_mix_them(url: str) -> None:
    specs = [small_spec(seed=seed) for seed in range(4)]
    refused: list[SweepSpec] = []

    def create(spec: SweepSpec) -> None:
        try:
            create_cube(url, spec)
        except CubeMismatchError:
            refused.append(spec)

    creators = [Thread(target=create, args=[spec]) for spec in specs]
    for creator in creators:
        creator.start()
    for creator in creators:
        creator.join()
    (first,) = (spec for spec in specs if spec not in refused)
    assert read_spec(url) == first
    verify_cube(url)
    assert LOCK not in objects(url)


def test_a_lock_is_waited_for_and_a_left_one_is_taken_over_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.backends.object_lock.LEASE", 0.5)
    backend, inside = backend_at(url), []
    backend.write({LOCK: b"of a killed process"})

    def work(name: int) -> None:
        with backend.locked():
            inside.append(name)
            assert len(inside) % 2 == 1, "two at once"
            inside.append(name)

    workers = [Thread(target=work, args=[name]) for name in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(inside) == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("s3://bucket/cube.zarr", "it cannot be reached. Check the network and the endpoint"),
        ("foo://bucket/cube.zarr", "this kind of store is not known. Give s3://"),
        ("s3://key:hidden@bucket/cube.zarr", "Keep secrets out of URLs"),
        ("s3://key:hid/den@bucket/cube.zarr", "Keep secrets out of URLs"),
        ("az://bucket/cube.zarr?sig=hidden", "Keep secrets out of URLs"),
        ("s3://bucket:abc/cube.zarr", "does not name a bucket"),
    ],
)
def test_errors_of_a_store_are_one_line(
    monkeypatch: pytest.MonkeyPatch, location: str, words: str
) -> None:
    settings = {
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("storage.backends.objects.RETRIES", {"max_retries": 1})
    with pytest.raises(CubeError) as caught:
        create_cube(location, SPEC)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert "hid" not in message


@pytest.mark.parametrize("array", ["imwk_ari", "kept/0/imwk_labels"])
def test_a_failing_store_is_not_taken_for_a_damaged_cube(url: str, array: str) -> None:
    create_cube(url, FEW)
    fill(url)
    assert isinstance(backend_at(url), ObjectBackend)

    async def fails(objects: Any, path: str, **keywords: Any) -> object:
        if path.startswith(array):
            raise obstore.exceptions.GenericError("HTTP error: error sending request")
        return await get(objects, path, **keywords)

    before, get = objects(url), obstore.get_async
    with (
        patch.object(obstore, "get_async", fails),
        pytest.raises(CubeError, match="cannot be reached"),
    ):
        verify_cube(url, repair=True)
    assert objects(url) == before
