"""Pilots measure what a run costs in a sweep, where many runs are computed together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.core import ImwkError, ImwkResult, imwk_grid
from pipeline.execution import pilots
from pipeline.execution.block import TileData
from pipeline.execution.pilots import run_pilots
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.sweep import Sweep
from tests.own_tables import small_table
from tests.pipeline.specs import small, synthetic

#: Not slower than the pilots' seconds, whatever the clock says.
TIME_ENOUGH, NO_TIME = 1e9, 0.0
GRID = [round(1.5 + 0.1 * step, 1) for step in range(20)]


@dataclass
class Clock:
    """A clock that stands still, except that imwk-means takes some seconds per call and run."""

    call: float
    run: float
    run_of: dict[int, float] = field(default_factory=dict)  # by the number of features
    now: float = 0.0
    calls: list[tuple[int, tuple[float, ...]]] = field(default_factory=list)

    def time(self) -> float:
        """Return the time, as `thread_time` does."""
        return self.now

    def grid(
        self, Xs: Sequence[Any], k: int, ps: tuple[float, ...], *settings: str
    ) -> list[list[ImwkResult]]:
        """Run `imwk_grid`, and let it take its time."""
        self.calls.append((len(Xs), ps))
        run = self.run_of.get(len(Xs[0][0]), self.run)
        self.now += self.call + run * len(Xs) * len(ps)
        return imwk_grid(Xs, k, ps, *settings)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(call=2.0, run=0.5)
    monkeypatch.setattr(pilots, "imwk_grid", made.grid)
    monkeypatch.setattr(pilots, "thread_time", made.time)
    return made


def table_sweep() -> Sweep:
    return Sweep.of({"mine": small_table()}, p1=GRID, p2=GRID, restarts=2)


@pytest.mark.parametrize("seconds", [TIME_ENOUGH, NO_TIME])
def test_a_run_costs_what_it_costs_in_a_block(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(pilots, "PILOT_SECONDS", seconds)
    sweep = table_sweep()
    cost = run_pilots(sweep.spec, 20, sweep.tables)["mine"]
    assert cost.rescaled_imwk == pytest.approx((2.0 + 0.5 * 400) / 400)
    sizes = [count * len(ps) for count, ps in clock.calls]
    if seconds:  # a pilot as large as a block
        assert max(sizes) == 400
        assert cost.imwk == pytest.approx((2.0 + 0.5 * 20) / 20)
    else:
        assert sum(sizes) <= 40
        assert cost.imwk == pytest.approx((2.0 + 0.5 * 4) / 4)  # one p1 for each normalisation


def test_pilots_stop_where_runs_are_slow(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilots, "PILOT_SECONDS", 250 * clock.run)
    sweep = table_sweep()
    run_pilots(sweep.spec, 20, sweep.tables)
    largest = max(count * len(ps) for count, ps in clock.calls)
    assert 100 < largest <= 250


def test_one_slow_run_is_enough_for_a_cost(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilots, "PILOT_SECONDS", NO_TIME)
    table, p2 = {"mine": small_table()}, GRID[:2]
    sweep = Sweep.of(table, normalisations=["range"], p1=GRID, p2=p2, restarts=0)
    cost = run_pilots(sweep.spec, 20, sweep.tables)["mine"]
    assert cost.rescaled_imwk == pytest.approx((clock.call + 2 * clock.run) / 2)


def test_exponents_come_from_the_whole_grid(clock: Clock) -> None:
    sweep = table_sweep()
    run_pilots(sweep.spec, 20, sweep.tables)
    for _, ps in clock.calls[1:]:  # the first call is to warm up
        assert set(ps) <= set(GRID)
        assert min(ps) - GRID[0] == pytest.approx(GRID[-1] - max(ps), abs=0.15)


def test_the_pilot_of_a_small_grid_is_the_whole_grid(clock: Clock) -> None:
    spec = small(p1=[1.5, 2], p2=[1.3, 3])
    cost = run_pilots(spec, 2)["1000x6-3"]
    assert (2, (1.3, 3.0)) in clock.calls
    assert cost.imwk == pytest.approx((2.0 + 0.5 * 2) / 2)
    assert cost.rescaled_imwk == pytest.approx((2.0 + 0.5 * 4) / 4)


def test_a_pilot_mixes_the_tiles_of_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles: list[Tile] = []
    make = TileData.of

    def recorded(spec: SweepSpec, tile: Tile, table: None) -> TileData:
        tiles.append(tile)
        return make(spec, tile, table)

    monkeypatch.setattr(TileData, "of", recorded)
    spec = SweepSpec(
        datasets=synthetic(["1000x6-3", "1000x6-3 WCN"], 50), p1=[2], p2=[2], restarts=1
    )
    costs = run_pilots(spec, 1)
    assert costs["1000x6-3"] == costs["1000x6-3 WCN"]
    mixed = tiles[1:]  # the first one is to warm up
    assert {tile.config for tile in mixed} == set(spec.configs)
    assert {tile.normalisation for tile in mixed} == set(spec.normalisations)
    assert len({tile.dataset for tile in mixed}) == len(mixed) <= 5


def test_each_shape_has_its_own_cost(clock: Clock) -> None:
    clock.run_of = {6: 0.5, 20: 3.0}
    spec = small(datasets=synthetic(["1000x6-3", "1000x20-10"], 1), p1=[2], p2=[2])
    costs = run_pilots(spec, 1)
    assert costs["1000x6-3"].rescaled_imwk == pytest.approx(2.0 + 0.5)
    assert costs["1000x20-10"].rescaled_imwk == pytest.approx(2.0 + 3.0)


def test_everything_that_a_block_does_takes_time() -> None:
    cost = run_pilots(small(), 2)["1000x6-3"]
    assert min(cost.imwk, cost.rescaled_imwk, cost.kmeans, cost.block) > 0


def test_only_what_the_sweep_computes_is_timed(clock: Clock) -> None:
    cost = run_pilots(small(parts=["imwk"], restarts=0), 2)["1000x6-3"]
    assert cost.imwk > 0
    assert (cost.rescaled_imwk, cost.kmeans) == (0, 0)
    assert all(count == 1 for count, _ in clock.calls)


@pytest.mark.usefixtures("clock")
def test_the_cost_of_a_large_table_is_that_of_some_rows_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = table_sweep()
    whole = run_pilots(sweep.spec, 20, sweep.tables)["mine"]
    monkeypatch.setattr(pilots, "PILOT_ROWS", 12)
    rows = len(small_table().X)
    some = run_pilots(sweep.spec, 20, sweep.tables)["mine"]
    assert rows == 40
    assert some.rescaled_imwk == pytest.approx(whole.rescaled_imwk * rows / 10)


def test_tables_are_needed() -> None:
    with pytest.raises(ImwkError, match="The data of 'mine' are needed for a plan"):
        run_pilots(table_sweep().spec, 20)
