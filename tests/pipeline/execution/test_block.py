"""Results depend on the spec alone: not on blocks, their order, or other cells."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_info

from pipeline.core import ImwkResult, imwk, imwk_grid, kmeans_many, normalise, rescale
from pipeline.core.kmeans import KMeansResult
from pipeline.core.types import FloatArray
from pipeline.datasets import synthetic_dataset
from pipeline.execution.block import Arrays, BlockResult, run_block, run_tile
from pipeline.spec import PARTS, SweepSpec, Tile
from pipeline.spec.blocks import Block, split_block, whole_tile
from pipeline.spec.sweep import Sweep
from tests.own_tables import small_table
from tests.pipeline.specs import small, synthetic

GRID = small(p1=[1.2, 1.5, 2.0, 3.1], p2=[1.3, 2.2, 3.0])
TILE = GRID.tiles[0]


@pytest.fixture(scope="module")
def whole() -> BlockResult:
    """Return a tile computed at once, to compare with."""
    return run_tile(GRID, TILE)


def assert_same_bits(one: Arrays, other: Arrays) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
        assert one[name].dtype == other[name].dtype


def test_a_tile_has_the_results_of_the_core(whole: BlockResult) -> None:
    data = synthetic_dataset("1000x6-3", 0, seed=2020)
    X, arrays = normalise(data.X, "range"), whole.arrays
    for row, p1 in enumerate(GRID.p1):
        run = imwk(X, 3, p1)
        assert arrays["imwk_ari"][row] == pytest.approx(adjusted_rand_score(data.y, run.labels))
        assert arrays["imwk_iterations"][row] == run.iterations
        rescaled = rescale(X, run.labels, run.weights)
        for column, p2 in enumerate(GRID.p2):
            again, cell = imwk(rescaled, 3, p2), (row, column)
            expected = adjusted_rand_score(data.y, again.labels)
            assert arrays["rescaled_imwk_ari"][cell] == pytest.approx(expected)
            assert arrays["rescaled_imwk_iterations"][cell] == again.iterations
            assert arrays["rescaled_imwk_clusters"][cell] == again.n_clusters


def test_dimensions_are_those_of_the_cube(whole: BlockResult) -> None:
    p1, p2, restart = 4, 3, 3
    assert {name: array.shape for name, array in whole.arrays.items()} == {
        "kmeans_ari": (restart,),
        "imwk_ari": (p1,),
        "imwk_iterations": (p1,),
        "imwk_clusters": (p1,),
        "rescaled_kmeans_ari": (p1, restart),
        "rescaled_imwk_ari": (p1, p2),
        "rescaled_imwk_iterations": (p1, p2),
        "rescaled_imwk_clusters": (p1, p2),
    }


def merged_arrays(results: list[BlockResult]) -> Arrays:
    """Join the results of split blocks. k-means on the original data is in one of them."""
    ordered = sorted(results, key=lambda result: result.block.p1)
    names = {name for result in ordered for name in result.arrays}
    parts = {
        name: [result.arrays[name] for result in ordered if name in result.arrays] for name in names
    }
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 40])
def test_block_size_and_order_change_no_bit(size: int, whole: BlockResult) -> None:
    blocks = split_block(whole.block, size)
    assert max(len(block.p1) for block in blocks) == min(size, 4)
    merged = merged_arrays([run_block(GRID, block) for block in reversed(blocks)])
    assert_same_bits(merged, whole.arrays)


@pytest.mark.parametrize(
    "parts", [parts for count in range(1, 5) for parts in combinations(PARTS, count)]
)
def test_parts_can_be_computed_alone(parts: tuple[str, ...], whole: BlockResult) -> None:
    spec = GRID.model_copy(update={"parts": parts})
    blocks = split_block(whole_tile(spec, TILE), 3)
    computed = merged_arrays([run_block(spec, block) for block in blocks])
    names = ("_ari", "_iterations", "_clusters")
    expected = {f"{part}{name}" for part, name in product(parts, names)} & whole.arrays.keys()
    assert_same_bits(computed, {name: whole.arrays[name] for name in computed})
    assert computed.keys() == expected


def test_the_missing_cells_of_an_extension_can_be_computed_alone(whole: BlockResult) -> None:
    block = Block(TILE, ("rescaled_imwk",), p1=(1.2, 3.1), p2=(2.2,))
    computed = run_block(GRID, block).arrays
    assert_same_bits(computed, {name: whole.arrays[name][np.ix_([0, 3], [1])] for name in computed})


EXTENSIONS: dict[str, dict[str, Any]] = {
    "exponents": {"p1": [1.1, *GRID.p1, 4.0], "p2": [1.2, *GRID.p2]},
    "restarts": {"restarts": 25},
    "data sets": {"datasets": synthetic(["1000x6-3"], 2)},
    "configurations": {"datasets": synthetic(["1000x6-3", "1000x6-3 WCN"], 1)},
    "normalisations": {"normalisations": ["range", "z-score"]},
}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extended_spec_keeps_every_bit(extension: str, whole: BlockResult) -> None:
    keys = {"p1": GRID.p1, "p2": GRID.p2} | EXTENSIONS[extension]
    larger = small(**keys)
    assert TILE in larger.tiles
    arrays = run_tile(larger, TILE).arrays
    assert_same_bits(within(arrays, larger, GRID), whole.arrays)


def within(arrays: Arrays, larger: SweepSpec, smaller: SweepSpec) -> Arrays:
    """Select the cells of the smaller spec, by the values of its exponents."""
    rows = [larger.p1.index(p) for p in smaller.p1]
    columns = [larger.p2.index(p) for p in smaller.p2]
    restarts = range(smaller.restarts)
    chosen = {
        "kmeans_ari": np.ix_(restarts),
        "rescaled_kmeans_ari": np.ix_(rows, restarts),
        "imwk": np.ix_(rows),
        "rescaled_imwk": np.ix_(rows, columns),
    }
    return {
        name: array[chosen.get(name) or chosen[name.rsplit("_", 1)[0]]]
        for name, array in arrays.items()
    }


def test_every_kmeans_has_a_stream_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[list[int]] = []

    def recorded(
        Xs: Sequence[FloatArray], k: int, restarts: int, seeds: Sequence[SeedSequence]
    ) -> list[KMeansResult]:
        states.extend(seed.generate_state(4).tolist() for seed in seeds)
        return kmeans_many(Xs, k, restarts, seeds)

    monkeypatch.setattr("pipeline.execution.block.kmeans_many", recorded)
    data = synthetic(["1000x6-3", "1000x6-3 WCN"], 2)
    spec = small(datasets=data, normalisations=["range", "z-score"], parts=PARTS[::2])
    for tile in spec.tiles:
        run_tile(spec, tile)
    assert len(states) == len(spec.tiles) * (1 + len(spec.p1))
    assert len(set(map(tuple, states))) == len(states)
    run_tile(small(seed=7), spec.tiles[0])
    assert states[-1] not in states[:-1]


def test_without_restarts_there_is_no_kmeans() -> None:
    spec = small(restarts=0)
    arrays = run_tile(spec, spec.tiles[0]).arrays
    assert not [name for name in arrays if "kmeans" in name]


@pytest.mark.parametrize("change", [{"centre": "fixed-step"}, {"dtype": "float32"}])
def test_centre_and_dtype_reach_the_core(
    change: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[tuple[str, str]] = []

    def recorded(
        Xs: list[FloatArray], k: int, ps: list[float], centre: str, dtype: str
    ) -> list[list[ImwkResult]]:
        settings.append((centre, dtype))
        return imwk_grid(Xs, k, ps, centre, dtype)

    monkeypatch.setattr("pipeline.execution.block.imwk_grid", recorded)
    monkeypatch.setattr(
        "pipeline.execution.block.imwk_many", lambda X, *rest: recorded([X], *rest)[0]
    )
    spec = small(**change)
    run_tile(spec, TILE)
    assert settings == [(spec.centre, spec.dtype)] * 2


def test_blas_has_one_thread_while_a_block_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def recorded(X: FloatArray, name: str) -> FloatArray:
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return normalise(X, name)

    monkeypatch.setattr("pipeline.execution.block.normalised", recorded)
    run_block(GRID, Block(TILE, ("kmeans",), (), ()))
    assert set(seen) == {1}


def test_a_tile_of_an_unknown_configuration_is_refused() -> None:
    with pytest.raises(ValueError, match="Did you mean '1000x6-3'"):
        run_block(GRID, Block(Tile("1000x6-4", 0, "range"), ("imwk",), (2.0,), ()))


def test_a_table_is_clustered_as_by_the_core() -> None:
    table = small_table()
    spec = Sweep.of({"mine": table}, k=2, normalisations=["range"], p1=[1.5], restarts=2).spec
    arrays = run_tile(spec, spec.tiles[0], table).arrays
    run = imwk(normalise(table.X, "range"), 2, 1.5)
    assert arrays["imwk_ari"][0] == pytest.approx(adjusted_rand_score(table.classes, run.labels))
    assert arrays["imwk_clusters"][0] == 2


def test_without_classes_everything_but_the_ari_is_the_same() -> None:
    table, bare = small_table(), small_table(labelled=False)
    keys: dict[str, Any] = {"normalisations": ["range"], "p1": [1.5], "p2": [2, 3], "restarts": 2}
    specs = [Sweep.of({"mine": data}, 3, **keys).spec for data in (table, bare)]
    full, less = (
        run_tile(spec, spec.tiles[0], data).arrays
        for spec, data in zip(specs, (table, bare), strict=True)
    )
    assert set(full) - set(less) == {name for name in full if name.endswith("_ari")}
    assert_same_bits({name: full[name] for name in less}, less)


def test_the_table_must_be_passed() -> None:
    spec = Sweep.of({"mine": small_table()}).spec
    with pytest.raises(ValueError, match="The data of 'mine' are needed"):
        run_tile(spec, spec.tiles[0])
