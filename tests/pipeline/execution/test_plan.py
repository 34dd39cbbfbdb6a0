"""Plans count what a sweep computes, and pilots measure what it costs."""

import json

import numpy as np
import pytest

from pipeline.core import ImwkError
from pipeline.datasets import Table
from pipeline.execution.block import BlockResult, run_block, run_tile
from pipeline.execution.pilots import run_pilots
from pipeline.execution.plan import Plan, default_block_size, make_plan
from pipeline.execution.workload import RunCost
from pipeline.spec import PARTS, SweepSpec
from pipeline.spec.blocks import Block, split_block, whole_tile
from pipeline.spec.sources import TableFacts
from pipeline.spec.sweep import Sweep
from storage.layout.schema import RESULTS
from tests.own_tables import small_table
from tests.pipeline.specs import small, synthetic

PAPER = SweepSpec(datasets=synthetic("all", 50))


def plan_at(
    cost: RunCost, spec: SweepSpec, workers: int = 1, block_size: int | None = None
) -> Plan:
    return make_plan(spec, workers, block_size, dict.fromkeys(spec.configs, cost))


def test_the_counts_of_the_papers_sweep() -> None:
    plan = plan_at(RunCost(0.05, 0.001), PAPER)
    assert plan.tiles == 600 * 4
    assert plan.block_size == 10
    assert plan.blocks == 600 * 4 * 4
    assert plan.tasks == plan.blocks + plan.tiles
    assert plan.imwk_runs == 600 * 4 * (40 + 40 * 40)
    assert plan.kmeans_runs == 600 * 4 * (100 + 40 * 100)
    assert plan.cpu_seconds == pytest.approx(plan.imwk_runs * 0.05 + plan.kmeans_runs * 0.001)


@pytest.mark.parametrize("parts", [PARTS, ("kmeans",), ("imwk",), ("rescaled_kmeans",)])
@pytest.mark.parametrize("block_size", [1, 2])
def test_a_plan_counts_what_a_sweep_computes(parts: tuple[str, ...], block_size: int) -> None:
    spec = small(parts=parts, datasets=synthetic(["1000x6-3", "1000x6-3 WCN"], 2))
    plan = plan_at(RunCost(1, 1), spec, 1, block_size)
    blocks = [split_block(whole_tile(spec, tile), block_size) for tile in spec.tiles]
    assert plan.tiles == len(spec.tiles) == 4
    assert plan.blocks == sum(map(len, blocks))
    arrays = run_tile(spec, spec.tiles[0]).arrays
    stored = (array.size * np.dtype(RESULTS[name].dtype).itemsize for name, array in arrays.items())
    assert plan.bytes == 4 * sum(stored)
    restarts = sum(array.size for name, array in arrays.items() if "kmeans" in name)
    assert plan.kmeans_runs == 4 * restarts


def test_each_configuration_has_its_own_cost() -> None:
    spec = small(datasets=synthetic(["1000x6-3", "1000x20-10"], 3), parts=["imwk"], p1=[2])
    costs = {"1000x6-3": RunCost(1, 0), "1000x20-10": RunCost(10, 0)}
    plan = make_plan(spec, 2, costs=costs)
    assert plan.cpu_seconds == 3 * 1 + 3 * 10
    assert plan.longest_block_seconds == 10


def test_workers_share_the_time_but_not_a_block() -> None:
    cost = RunCost(1.0, 0.0)
    spec = small(parts=["imwk"], p1=[1.5, 2, 3, 4])  # one tile, one block of four seconds
    assert plan_at(cost, spec, 1).wall_seconds == 4
    assert plan_at(cost, spec, 1000).wall_seconds >= 4
    assert plan_at(cost, PAPER, 8).wall_seconds == pytest.approx(
        plan_at(cost, PAPER).wall_seconds / 8, rel=1e-3
    )


@pytest.mark.parametrize(("p1", "p2", "size"), [(40, 40, 10), (4, 4, 4), (40, 1000, 1), (1, 1, 1)])
def test_blocks_are_neither_tiny_nor_endless(p1: int, p2: int, size: int) -> None:
    spec = small(p1=[1 + i / 100 for i in range(p1)], p2=[1 + i / 100 for i in range(p2)])
    assert default_block_size(spec) == size


def test_json_has_everything_that_is_printed() -> None:
    plan = plan_at(RunCost(0.05, 0.001), PAPER, 8)
    data = json.loads(plan.to_json())
    assert data["core_hours"] == pytest.approx(plan.cpu_seconds / 3600)
    for key in ("tiles", "blocks", "tasks", "imwk_runs", "kmeans_runs", "block_size", "workers"):
        assert f"{data[key]:,}" in str(plan)


def test_wall_time_reads_well() -> None:
    spec = small(parts=["imwk"], p1=[2])
    assert "59 s with" in str(plan_at(RunCost(58.3, 0), spec))
    assert "2 min 5 s with" in str(plan_at(RunCost(125, 0), spec))
    assert "30 h 1 min with" in str(plan_at(RunCost(108_060, 0), spec))


def recorded_blocks(monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    blocks: list[Block] = []

    def recorded(spec: SweepSpec, block: Block, table: Table | None = None) -> BlockResult:
        blocks.append(block)
        return run_block(spec, block, table)

    monkeypatch.setattr("pipeline.execution.pilots.run_block", recorded)
    return blocks


def test_pilots_are_small_and_use_the_grid_of_the_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = recorded_blocks(monkeypatch)
    spec = SweepSpec(datasets=synthetic(["1000x6-3", "1000x6-3 WCN", "1000x12-6"], 50))
    costs = run_pilots(spec)
    assert costs.keys() == set(spec.configs)
    assert costs["1000x6-3"] == costs["1000x6-3 WCN"]  # one shape, one pilot
    assert costs["1000x12-6"].imwk > costs["1000x6-3"].imwk > 0
    timed = [block for block in blocks if block.p2]
    assert sum(len(block.p1) * len(block.p2) for block in timed) <= 100
    for block in timed:
        assert set(block.p1) <= set(spec.p1)
        assert block.p1[-1] - block.p1[0] > 2  # from the whole grid
    assert {p2 for block in timed for p2 in block.p2} == {2.0, 2.1, 2.2, 4.0, 4.1, 4.2}


def test_the_pilot_of_a_small_grid_is_the_whole_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = recorded_blocks(monkeypatch)
    run_pilots(small())
    assert [(block.p1, block.p2) for block in blocks if block.p2] == [((1.5, 2.0), (1.3, 3.0))]


@pytest.mark.parametrize("bad", [(0, None), (2, 0)])
def test_impossible_settings_are_refused(bad: tuple[int, int | None]) -> None:
    with pytest.raises(ImwkError, match="must be a whole number of at least 1, got 0"):
        make_plan(small(), *bad, costs={"1000x6-3": RunCost(1, 1)})


def test_blocks_of_large_tables_are_small() -> None:
    facts = TableFacts(k=3, rows=1_000_000, features=10, labelled=True, sha256="0" * 64)
    assert default_block_size(SweepSpec(datasets={"matrices": {"mine": facts}})) == 2


def test_tables_have_their_own_pilots(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = Sweep.of({"mine": small_table()}, p1=[1.5], p2=[2], restarts=2)
    cost = run_pilots(sweep.spec, sweep.tables)["mine"]
    assert cost.imwk > 0
    with pytest.raises(ImwkError, match="The data of 'mine' are needed for a plan"):
        run_pilots(sweep.spec)
    rows: list[int] = []

    def recorded(_: SweepSpec, block: Block, table: Table) -> BlockResult:
        rows.append(len(table.X))
        return BlockResult(block, {}, seconds=1.0)

    monkeypatch.setattr("pipeline.execution.pilots.run_block", recorded)
    monkeypatch.setattr("pipeline.execution.pilots.PILOT_ROWS", 12)
    in_proportion = run_pilots(sweep.spec, sweep.tables)["mine"]
    assert set(rows) == {10}
    assert in_proportion.imwk == 40 / 10 / 2  # two runs: one rescales, one is on the rescaled data
