"""Plans count what a sweep computes and what it costs, given the cost of a run."""

import json

import numpy as np
import pytest

from pipeline.core import ImwkError
from pipeline.execution.block import run_tile
from pipeline.execution.plan import Plan, default_block_size, make_plan
from pipeline.execution.workload import RunCost
from pipeline.spec import PARTS, SweepSpec
from pipeline.spec.blocks import split_block, whole_tile
from pipeline.spec.sources import TableFacts
from storage.layout.schema import RESULTS
from tests.pipeline.specs import small, synthetic

PAPER = SweepSpec(datasets=synthetic("all", 50))


def plan_at(
    cost: RunCost, spec: SweepSpec, workers: int = 1, block_size: int | None = None
) -> Plan:
    return make_plan(spec, workers, block_size, dict.fromkeys(spec.configs, cost))


def test_the_counts_of_the_papers_sweep() -> None:
    plan = plan_at(RunCost(0.05, 0.04, 0.001, 0.1), PAPER)
    assert plan.tiles == 600 * 4
    assert plan.block_size == 10
    assert plan.blocks == 600 * 4 * 4
    assert plan.tasks == plan.blocks + plan.tiles
    assert plan.imwk_runs == 600 * 4 * (40 + 40 * 40)
    assert plan.kmeans_runs == 600 * 4 * (100 + 40 * 100)
    seconds = 40 * 0.05 + 40 * 40 * 0.04 + 41 * 100 * 0.001 + 4 * 0.1
    assert plan.cpu_seconds == pytest.approx(600 * 4 * seconds)


@pytest.mark.parametrize("parts", [PARTS, ("kmeans",), ("imwk",), ("rescaled_kmeans",)])
@pytest.mark.parametrize("block_size", [1, 2])
def test_a_plan_counts_what_a_sweep_computes(parts: tuple[str, ...], block_size: int) -> None:
    spec = small(parts=parts, datasets=synthetic(["1000x6-3", "1000x6-3 WCN"], 2))
    plan = plan_at(RunCost(1, 1, 1), spec, 1, block_size)
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
    costs = {"1000x6-3": RunCost(1, 0, 0), "1000x20-10": RunCost(10, 0, 0)}
    plan = make_plan(spec, 2, costs=costs)
    assert plan.cpu_seconds == 3 * 1 + 3 * 10
    assert plan.longest_block_seconds == 10


def test_workers_share_the_time_but_not_a_block() -> None:
    cost = RunCost(1.0, 1.0, 0.0)
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
    plan = plan_at(RunCost(0.05, 0.04, 0.001), PAPER, 8)
    data = json.loads(plan.to_json())
    assert data["core_hours"] == pytest.approx(plan.cpu_seconds / 3600)
    for key in ("tiles", "blocks", "tasks", "imwk_runs", "kmeans_runs", "block_size", "workers"):
        assert f"{data[key]:,}" in str(plan)


def test_wall_time_reads_well() -> None:
    spec = small(parts=["imwk"], p1=[2])
    assert "59 s with" in str(plan_at(RunCost(58.3, 0, 0), spec))
    assert "2 min 5 s with" in str(plan_at(RunCost(125, 0, 0), spec))
    assert "30 h 1 min with" in str(plan_at(RunCost(108_060, 0, 0), spec))


@pytest.mark.parametrize("bad", [(0, None), (2, 0)])
def test_impossible_settings_are_refused(bad: tuple[int, int | None]) -> None:
    with pytest.raises(ImwkError, match="must be a whole number of at least 1, got 0"):
        make_plan(small(), *bad, costs={"1000x6-3": RunCost(1, 1, 1)})


def test_blocks_of_large_tables_are_small() -> None:
    facts = TableFacts(k=3, rows=1_000_000, features=10, labelled=True, sha256="0" * 64)
    assert default_block_size(SweepSpec(datasets={"matrices": {"mine": facts}})) == 2
