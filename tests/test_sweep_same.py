"""The cube is the same, bit for bit, however it is computed."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
import xarray as xr
from distributed import Client

from pipeline.datasets import Table
from pipeline.execution.block import BlockResult, run_block
from pipeline.execution.dask import build_graph, run_on_dask
from pipeline.execution.plan import default_block_size
from pipeline.execution.serial import run_serially
from pipeline.execution.tile_tasks import split_blocks
from pipeline.spec import KEEP, SweepSpec
from pipeline.spec.blocks import Block
from storage import Ledger, cancel_sweeps, create_cube, extend_cube, open_cube, read_ledger
from storage.handle import CubeHandle, open_handle
from tests.storage.made_up import assert_same_kept, comparable
from workflows import submit
from workflows.compute import local_client
from workflows.cube_store import CubeStore
from workflows.errors import CancelledSweepError
from workflows.spec_files import load_sweep
from workflows.sweep import Event, Started, TileEnded


def sweep(**changes: object) -> SweepSpec:
    count = changes.pop("count", 2)
    values = {"normalisations": ["range", "z-score"], "p1": [1.5, 2], "p2": [2, 4], "keep": KEEP}
    datasets = {"synthetic": {"configs": ["1000x6-3", "1000x6-3 WCN"], "count": count}}
    return SweepSpec.model_validate({**values, "restarts": 2, **changes, "datasets": datasets})


SPEC = sweep()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("serial") / "cube.zarr"
    submit(SPEC, location, workers=0)
    return location


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with local_client(workers=2) as client:
        yield client


def with_one_worker(cube: Path, _: Client) -> None:
    submit(SPEC, cube, workers=1)


def with_two_workers(cube: Path, client: Client) -> None:
    submit(SPEC, cube, client)


def in_blocks_of(size: int) -> Callable[[Path, Client], None]:
    def compute(cube: Path, client: Client) -> None:
        create_cube(cube, SPEC)
        jobs = split_blocks({work.tile: work.blocks for work in read_ledger(cube).todo}, size)
        assert {len(blocks) for blocks in jobs.values()} == {-(-len(SPEC.p1) // size)}
        for outcome in run_on_dask(client, SPEC, jobs, CubeStore(str(cube), "session")):
            assert outcome.error is None

    return compute


def shuffled(cube: Path, _: Client) -> None:
    create_cube(cube, SPEC)
    work = list(read_ledger(cube).todo)
    Random(1).shuffle(work)
    jobs = split_blocks({one.tile: one.blocks[::-1] for one in work}, 2)
    list(run_serially(SPEC, jobs, CubeStore(str(cube), "session")))


def interrupted_and_resumed(cube: Path, client: Client) -> None:
    def stop_at_the_third(event: Event) -> None:
        ended.append(event)
        if len(ended) == 4:
            raise KeyboardInterrupt

    ended: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        submit(SPEC, cube, client, on_event=stop_at_the_third)
    assert 0 < len(read_ledger(cube).todo) < len(SPEC.tiles)
    assert submit(SPEC, cube, client).done_before >= 3


def extended_in_two_steps(cube: Path, client: Client) -> None:
    small = sweep(count=1, normalisations=["z-score"], p1=[2], p2=[4])
    larger = sweep(count=1, p1=[2], p2=[2, 4])
    submit(small, cube, client)
    for spec in (larger, SPEC):
        extend_cube(cube, spec)
        submit(spec, cube, client)


@pytest.mark.parametrize(
    "compute",
    [
        with_one_worker,
        with_two_workers,
        in_blocks_of(1),
        in_blocks_of(len(SPEC.p1)),
        shuffled,
        interrupted_and_resumed,
        extended_in_two_steps,
    ],
    ids=["1 worker", "2 workers", "blocks of 1", "1 block", "shuffled", "interrupted", "extended"],
)
def test_the_cube_equals_that_of_a_serial_sweep(
    compute: Callable[[Path, Client], None],
    tmp_path: Path,
    client: Client,
    reference: Path,
) -> None:
    cube = tmp_path / "cube.zarr"
    compute(cube, client)
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(reference)))
    assert_same_kept(cube, reference)


def test_an_extension_computes_only_new_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, larger = sweep(count=1, p1=[2], p2=[4]), sweep(count=1, p1=[2, 3], p2=[2, 4])
    cube = tmp_path / "cube.zarr"
    submit(small, cube, workers=0)
    computed: list[Block] = []

    def noted(spec: SweepSpec, block: Block, table: Table | None) -> BlockResult:
        computed.append(block)
        return run_block(spec, block, table)

    monkeypatch.setattr("pipeline.execution.tile_tasks.run_block", noted)
    extend_cube(cube, larger)
    submit(larger, cube, workers=0)
    assert {block.tile for block in computed} == set(larger.tiles)
    assert not [block for block in computed if 2 in block.p1 and 4 in block.p2]
    assert not [block for block in computed if 2 in block.p1 and "imwk" in block.parts]
    assert not [block for block in computed if "kmeans" in block.parts]


def test_a_process_opens_the_cube_once_for_all_its_tiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[CubeHandle] = []

    def noted(location: str) -> CubeHandle:
        opened.append(open_handle(location))
        return opened[-1]

    for module in ("storage.handle", "storage.create", "workflows.cube_store"):
        monkeypatch.setattr(f"{module}.open_handle", noted)
    submit(sweep(parts=["kmeans"]), tmp_path / "cube.zarr", workers=0)
    assert len(opened) == 2  # by the submit, and by the store that workers use


def test_a_submit_reads_the_ledger_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Ledger] = []

    def noted(cube: CubeHandle) -> Ledger:
        read.append(read_ledger(cube))
        return read[-1]

    monkeypatch.setattr("workflows.sweep.read_ledger", noted)
    spec = sweep(parts=["kmeans"])
    submit(spec, tmp_path / "cube.zarr", workers=0)
    assert [ledger.counts.done for ledger in read] == [0, len(spec.tiles)]
    submit(spec, tmp_path / "cube.zarr", workers=0)
    assert len(read) == 3  # nothing was missing, so nothing has changed


def test_tiles_of_another_session_are_reported_and_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, cube = sweep(parts=["kmeans"]), tmp_path / "cube.zarr"
    computed: list[Block] = []

    def noted(spec: SweepSpec, block: Block, table: Table | None) -> BlockResult:
        computed.append(block)
        return run_block(spec, block, table)

    def other_session(event: Event) -> None:
        if isinstance(event, Started):
            submit(spec, cube, workers=0)

    monkeypatch.setattr("pipeline.execution.tile_tasks.run_block", noted)
    report = submit(spec, cube, workers=0, on_event=other_session)
    assert (report.done_before, report.done, report.tiles) == (0, len(spec.tiles), len(spec.tiles))
    assert len(computed) == len({block.tile for block in computed}) == len(spec.tiles)


def test_tiles_are_started_breadth_first(tmp_path: Path) -> None:
    spec = sweep(count=6, parts=["kmeans"])
    events: list[Event] = []
    with local_client(workers=1) as client:
        submit(spec, tmp_path / "cube.zarr", client, on_event=events.append)
    ended = [event.tile for event in events if isinstance(event, TileEnded)]
    assert isinstance(events[0], Started)
    assert sorted(ended) == sorted(spec.tiles)
    places = [spec.tiles.index(tile) for tile in ended]
    assert max(abs(place - wanted) for wanted, place in enumerate(places)) <= 3


def test_the_papers_graph_has_12000_tasks_and_no_data(tmp_path: Path) -> None:
    spec = load_sweep("paper").spec
    create_cube(tmp_path / "cube.zarr", spec)
    jobs = {work.tile: work.blocks for work in read_ledger(tmp_path / "cube.zarr").todo}
    store = CubeStore("cube.zarr", "session")
    graph, writes = build_graph(spec, split_blocks(jobs, default_block_size(spec)), store)
    assert (len(graph), len(writes)) == (12_000, 2_400)
    assert len(pickle.dumps(graph)) < 5_000_000


def test_a_sweep_can_be_cancelled_while_it_waits_for_workers(
    tmp_path: Path, client: Client
) -> None:
    cube = tmp_path / "cube.zarr"

    @contextmanager
    def workers_that_come_late() -> Iterator[Client]:
        cancel_sweeps(cube)
        yield client

    with pytest.raises(CancelledSweepError):
        submit(SPEC, cube, workplace=workers_that_come_late)
    assert len(read_ledger(cube).todo) == len(SPEC.tiles)
