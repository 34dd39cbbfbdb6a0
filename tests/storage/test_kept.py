"""Labels and weights in a cube: they are those of the runs, complete, and read by their labels."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from pipeline.core import imwk, kmeans, normalise, rescale
from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table
from pipeline.execution.block import BlockResult, run_tile
from pipeline.seeds import seed_sequence
from pipeline.spec import KEEP, SweepSpec
from pipeline.spec.blocks import split_block, whole_tile
from pipeline.spec.sweep import Sweep
from storage import (
    CubeError,
    CubeMismatchError,
    Status,
    create_cube,
    extend_cube,
    labels,
    open_cube,
    read_spec,
    verify_cube,
    weights,
)
from storage.layout.kept import KEPT_RESULTS
from storage.tiles import mark_missing, write_tile
from tests.own_tables import small_table
from tests.storage.made_up import assert_same_kept, fill, made_up, plain, small_spec

SPEC = small_spec(count=1, configs=["1000x6-3"], keep=KEEP)
TILE = SPEC.tiles[0]

#: A sweep of real runs that takes a second.
KEYS: dict[str, Any] = {
    "normalisations": ["range"],
    "p1": [1.2, 2.0, 4.0],
    "p2": [1.5, 3.0],
    "restarts": 4,
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("filled") / "cube.zarr"
    create_cube(location, SPEC)
    fill(location)
    return location


@pytest.fixture
def cube(filled: Path, tmp_path: Path) -> Path:
    """Return a complete cube that keeps labels and weights of made-up runs."""
    return Path(shutil.copytree(filled, tmp_path / "cube.zarr"))


def swept(folder: Path, table: Table, k: int, **keys: Any) -> Path:
    """Return the cube of a table, with the results of real runs."""
    sweep = Sweep.of({"mine": table}, k, **{**KEYS, **keys})
    location = folder / "mine.zarr"
    create_cube(location, sweep.spec, sweep.tables)
    for tile in sweep.spec.tiles:
        write_tile(location, tile, [run_tile(sweep.spec, tile, table)])
    return location


def noisy(rows: int = 60, features: int = 3) -> Table:
    """Return data in which runs differ."""
    X = np.random.default_rng(7).normal(size=(rows, features))
    X[: rows // 2, 0] += 3
    return Table(X, tuple("abcdefgh"[:features]))


def test_labels_and_weights_are_those_of_the_runs(tmp_path: Path) -> None:
    table = noisy()
    cube = swept(tmp_path, table, 4)
    X = normalise(table.X, "range")
    for p1 in KEYS["p1"]:
        first = imwk(X, 4, p1)
        assert_run(cube, first, part="imwk", p1=p1)
        rescaled = rescale(X, first.labels, first.weights)
        for p2 in KEYS["p2"]:
            assert_run(cube, imwk(rescaled, 4, p2), part="rescaled_imwk", p1=p1, p2=p2)


def assert_run(cube: Path, run: Any, **where: Any) -> None:
    stored = labels(cube, dataset=0, normalisation="range", **where).load()
    assert stored.dims == ("row",)
    assert stored.values.tolist() == run.labels.tolist()
    assert bool(stored.converged) == run.converged
    of_run = weights(cube, dataset=0, normalisation="range", **where).load()
    assert (of_run.dims, of_run.feature.values.tolist()) == (
        ("cluster", "feature"),
        ["a", "b", "c"],
    )
    formed = len(run.weights)
    np.testing.assert_allclose(of_run[:formed], run.weights, rtol=1.6e-5)
    assert np.isnan(of_run[formed:]).all()


def test_the_restart_of_least_inertia_is_kept(tmp_path: Path) -> None:
    table = noisy()
    cube = swept(tmp_path, table, 4, parts=["kmeans"], restarts=9)
    seed = seed_sequence(2020, "kmeans", "mine", 0, "range")
    found = kmeans(normalise(table.X, "range"), 4, 9, seed)
    best = int(found.inertia.argmin())
    assert best > 0  # otherwise the first restart would do
    stored = labels(cube, part="kmeans").load()
    assert stored.dims == ("dataset", "normalisation", "row")
    assert stored.values.ravel().tolist() == found.labels[best].tolist()
    assert (stored.restart.item(), stored.inertia.item()) == (best, found.inertia[best])


def test_a_single_cluster_is_kept(tmp_path: Path) -> None:
    cube = swept(tmp_path, noisy(), 1)
    assert not labels(cube).any()
    found = weights(cube).load()
    assert found.sizes["cluster"] == 1
    np.testing.assert_allclose(found.sum("feature"), 1, rtol=1.6e-5)
    assert not verify_cube(cube).damaged


def test_clusters_that_were_not_formed_have_no_weights(tmp_path: Path) -> None:
    table = noisy(rows=30)
    cube = swept(tmp_path, table, 25)
    run = imwk(normalise(table.X, "range"), 25, 2.0)
    assert len(run.weights) < 25
    found = weights(cube, part="imwk", p1=2, dataset=0, normalisation="range").load()
    absent = found.isnull().all("feature").values
    assert absent.tolist() == [cluster >= len(run.weights) for cluster in range(25)]
    assert not verify_cube(cube).damaged


@pytest.mark.parametrize(("k", "stored"), [(255, "uint8"), (256, "uint16")])
def test_more_than_255_clusters_have_labels_of_two_bytes(
    tmp_path: Path, k: int, stored: str
) -> None:
    table = noisy(rows=300, features=1)
    keys = {"parts": ["imwk"], "p1": [2], "restarts": 0}
    cube = swept(tmp_path, table, k, **keys)
    run = imwk(normalise(table.X, "range"), k, 2)
    assert zarr.open_array(cube / "kept" / "0" / "imwk_labels", mode="r").dtype == stored
    assert labels(cube, part="imwk").values.ravel().tolist() == run.labels.tolist()
    assert not verify_cube(cube).damaged


def test_everything_is_read_back_as_it_was_written(cube: Path) -> None:
    written = made_up(SPEC, whole_tile(SPEC, TILE)).arrays
    for part, dims in (("imwk", ("p1",)), ("rescaled_imwk", ("p1", "p2"))):
        where: dict[str, Any] = {"dataset": 0, "normalisation": TILE.normalisation, "part": part}
        found, of_run = labels(cube, **where), weights(cube, **where)
        assert (found.dims, of_run.dims) == ((*dims, "row"), (*dims, "cluster", "feature"))
        np.testing.assert_array_equal(found, written[f"{part}_labels"])
        np.testing.assert_array_equal(found.converged, written[f"{part}_converged"])
        np.testing.assert_array_equal(of_run, written[f"{part}_weights"])
        assert found.dtype.kind == "i"
        assert of_run.dtype == np.float32


def test_selected_runs_have_their_coordinates(cube: Path) -> None:
    every = labels(cube)
    assert every.dims == ("dataset", "normalisation", "p1", "p2", "row")
    some = labels(cube, p1=[2.0, 1.1 + 0.3], p2=1.5, normalisation="range")
    assert some.dims == ("dataset", "p1", "row")
    assert some.p1.values.tolist() == [2.0, 1.4]
    assert (some.config, some.p2, some.normalisation) == ("1000x6-3", 1.5, "range")
    expected = every.sel(p1=[2.0, 1.4], p2=1.5, normalisation="range")
    np.testing.assert_array_equal(some, expected)


def test_exponents_ascend_whatever_the_order_in_which_they_were_added(cube: Path) -> None:
    before = labels(cube).load()
    larger = small_spec(count=1, configs=["1000x6-3"], keep=KEEP, p1=[1.1, 1.2, 1.4, 2.0])
    extend_cube(cube, larger)
    fill(cube)
    after = labels(cube).load()
    assert after.p1.values.tolist() == list(larger.p1)
    xr.testing.assert_identical(after.sel(p1=before.p1), before)


def test_tiles_that_are_not_done_have_no_labels(cube: Path) -> None:
    zarr.open_array(cube / "status", mode="r+")[0, 0, 0] = Status.FAILED
    undone = open_cube(cube).normalisation.values[0]
    for what in (labels(cube), labels(cube, part="kmeans")):
        assert (what.sel(normalisation=undone) == -1).all()
        assert (what.drop_sel(normalisation=undone) >= 0).all()
    found = weights(cube).isnull().all(["p1", "p2", "cluster", "feature"])
    assert found.sel(dataset=0).values.tolist() == [True, False]


def test_a_cube_without_them_says_how_to_get_them(tmp_path: Path) -> None:
    create_cube(tmp_path / "none.zarr", small_spec())
    create_cube(tmp_path / "some.zarr", small_spec(keep=["labels"], configs=["1000x6-3"]))
    for read, name in ((labels, "none"), (weights, "none"), (weights, "some")):
        with pytest.raises(CubeError, match=r'did not keep them.*keep = \["labels", "weights"\]'):
            read(tmp_path / f"{name}.zarr")
    assert (labels(tmp_path / "some.zarr") == -1).all()


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "part": ({"part": "imvk"}, "Unknown part with labels 'imvk'. Did you mean 'imwk'"),
    "rescaled": ({"part": "rescaled_kmeans"}, "Unknown part with labels 'rescaled_kmeans'"),
    "config": ({"config": "1000x6"}, "Unknown configuration '1000x6'"),
    "p1": ({"p1": 1.3}, "p1 = 1.3 is not on the grid of this cube. Near it are 1.1, 1.4"),
    "p2": ({"part": "imwk", "p2": 1.5}, "The runs of imwk have no p2"),
    "dataset": ({"dataset": 3}, "There is no data set 3"),
}


@pytest.mark.parametrize(("where", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(cube: Path, where: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        labels(cube, **where)


def test_one_of_several_configurations_must_be_chosen(tmp_path: Path) -> None:
    create_cube(tmp_path / "two.zarr", small_spec(keep=["labels"], parts=["imwk"]))
    with pytest.raises(InvalidInputError, match="2 configurations: 1000x6-3, 1000x12-6"):
        labels(tmp_path / "two.zarr", part="imwk")
    with pytest.raises(InvalidInputError, match="does not compute kmeans, only imwk"):
        labels(tmp_path / "two.zarr", config="1000x12-6", part="kmeans")


@pytest.mark.parametrize("keep", [["labels"], ["weights"]])
def test_only_what_was_asked_for_is_kept(tmp_path: Path, keep: list[str]) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec(keep=keep, count=1))
    fill(tmp_path / "cube.zarr")
    assert {each.keep for name, each in KEPT_RESULTS.items() if name in names(tmp_path)} == {*keep}
    assert not verify_cube(tmp_path / "cube.zarr").damaged


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("cube.zarr/kept/*/*") if path.is_dir()}


def test_synthetic_data_are_not_kept_by_default_but_tables_are(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    assert not (tmp_path / "cube.zarr" / "kept").exists()
    sweep = Sweep.of({"mine": small_table(labelled=True)})
    assert (small_spec().keep, sweep.spec.keep) == ((), KEEP)


def test_plain_xarray_does_not_see_them_but_opens_their_group(cube: Path) -> None:
    assert not set(plain(cube)) & set(KEPT_RESULTS)
    tree = xr.open_datatree(cube, engine="zarr")
    found = tree["kept/0"].rescaled_imwk_labels
    assert found.dims == ("dataset", "normalisation", "p1", "p2", "row")
    assert found.sel(p1=1.4, p2=3.0).shape == (1, 2, 1000)


def without(name: str) -> Callable[[BlockResult], BlockResult]:
    return lambda result: replace(
        result, arrays={key: array for key, array in result.arrays.items() if key != name}
    )


def changed(name: str, value: Any) -> Callable[[BlockResult], BlockResult]:
    def change(result: BlockResult) -> BlockResult:
        array = result.arrays[name].copy()
        array.flat[1] = value
        return replace(result, arrays={**result.arrays, name: array})

    return change


BAD: dict[str, tuple[Callable[[BlockResult], BlockResult], str]] = {
    "no labels": (without("imwk_labels"), "not complete: imwk_labels is missing"),
    "no weights": (without("rescaled_imwk_weights"), "rescaled_imwk_weights is missing"),
    "k clusters": (changed("imwk_labels", 3), "imwk_labels has 3, outside 0 to 2"),
    "no label": (changed("kmeans_labels", 255), "kmeans_labels lacks 1 of 1000 values"),
    "NaN": (changed("imwk_weights", np.nan), "imwk_weights lacks 1 of 18 values"),
    "above 1": (changed("imwk_weights", 1.5), "imwk_weights has 1.5, outside 0 to 1"),
    "shape": (
        lambda result: replace(
            result, arrays=result.arrays | {"imwk_labels": np.zeros((3, 9), np.uint8)}
        ),
        r"imwk_labels of .* has the shape \(3, 9\), not \(3, 1000\)",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
def test_bad_results_are_refused_and_nothing_is_written(
    tmp_path: Path, spoil: Callable[[BlockResult], BlockResult], message: str
) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    with pytest.raises(CubeError, match=message):
        write_tile(tmp_path / "cube.zarr", TILE, [spoil(made_up(SPEC, whole_tile(SPEC, TILE)))])
    assert not list((tmp_path / "cube.zarr").glob("*_ari/c.*"))
    assert not list((tmp_path / "cube.zarr").glob("kept/*/*/c.*"))


def test_labels_that_the_cube_does_not_keep_are_refused(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC.model_copy(update={"keep": ()}))
    with pytest.raises(CubeError, match="kmeans_labels is not a result of this sweep"):
        write_tile(tmp_path / "cube.zarr", TILE, [made_up(SPEC, whole_tile(SPEC, TILE))])


def test_blocks_are_placed_by_their_exponents_in_any_order(cube: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.zarr"
    create_cube(other, SPEC)
    for tile in SPEC.tiles:
        blocks = split_block(whole_tile(SPEC, tile), size=1)
        write_tile(other, tile, [made_up(SPEC, block) for block in reversed(blocks)])
    assert_same_kept(other, cube)


def test_a_tile_that_is_marked_as_missing_keeps_nothing(cube: Path) -> None:
    mark_missing(cube, SPEC.tiles)
    assert not list(cube.glob("kept/*/*/c.*"))


def test_spans_of_a_large_table_are_written_and_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks of 3,000 bytes split 1,000 rows and the grid as larger ones do for large tables."""
    monkeypatch.setattr("storage.layout.kept.CHUNK_BYTES", 3000)
    monkeypatch.setattr("storage.layout.kept.CHUNK_ROWS", 400)
    split, at_once = tmp_path / "split.zarr", tmp_path / "at_once.zarr"
    larger = small_spec(count=1, configs=["1000x6-3"], keep=KEEP, p1=[1.1, 1.4, 1.7, 2.0, 3.0])
    create_cube(split, SPEC)
    fill(split)
    extend_cube(split, larger)
    fill(split)
    array = zarr.open_array(split / "kept" / "0" / "rescaled_imwk_labels", mode="r")
    assert array.chunks == (1, 1, 1, 7, 400)
    monkeypatch.undo()
    create_cube(at_once, larger)
    fill(at_once)
    assert_same_kept(split, at_once)
    assert not verify_cube(split).damaged


def test_a_spec_that_does_not_mention_them_fits_any_cube(tmp_path: Path) -> None:
    sweep = Sweep.of({"mine": small_table(labelled=True)}, **KEYS)
    larger = Sweep.of({"mine": small_table(labelled=True)}, **{**KEYS, "p1": [1.2, 2, 4, 5]})
    for keep in ((), ("labels",)):
        location = tmp_path / f"{len(keep)}.zarr"
        stored = SweepSpec.model_validate({**dict(sweep.spec), "keep": keep})
        create_cube(location, stored, sweep.tables)
        create_cube(location, sweep.spec, sweep.tables)
        extend_cube(location, larger.spec)
        assert read_spec(location).keep == keep


def test_labels_cannot_be_added_to_a_cube(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    asked = small_spec(count=3, keep=KEEP)
    message = r"keep: none \(cube\), labels, weights \(spec\)"
    with pytest.raises(CubeMismatchError, match=message):
        extend_cube(tmp_path / "cube.zarr", asked)
    with pytest.raises(CubeMismatchError, match=message):
        create_cube(tmp_path / "cube.zarr", small_spec(keep=KEEP))
