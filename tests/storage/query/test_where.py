"""Configurations by the coordinates that describe their data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table
from pipeline.execution.block import run_tile
from pipeline.spec import SweepSpec, TableFacts
from storage import CubeMismatchError, best_average, create_cube, extend_cube, open_cube, select
from storage.tiles import write_tile

MINE = {"n": 60, "m": 4, "k": [2, 3], "noise": "uniform", "noise_share": [0, 0.5], "count": 2}
PAPER = {"configs": ["1000x6-3 +3NF"], "count": 1}
COORDINATES = ("n", "m", "k", "noise", "noise_share")
MISSING = "-"
TABLE = Table(np.arange(12.0).reshape(6, 2), ("a", "b"))
KEYS: dict[str, Any] = {"normalisations": ["range"], "restarts": 2, "p1": [2], "p2": [2]}


def data(**keys: Any) -> dict[str, Any]:
    return {"generated": {"mine": MINE | {"least": 5} | keys}}


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a cube of generated data and a table."""
    cube = tmp_path_factory.mktemp("where") / "cube.zarr"
    tables = {"matrices": {"table": TableFacts.of(TABLE, 2)}, "synthetic": PAPER}
    spec = SweepSpec(datasets=data() | tables, **KEYS)
    create_cube(cube, spec, {TABLE.sha256: TABLE})
    for tile in spec.tiles:
        if tile.config.startswith("mine"):
            write_tile(cube, tile, [run_tile(spec, tile)])
    return cube


def test_the_coordinates_describe_every_configuration(cube: Path) -> None:
    opened = open_cube(cube)
    expected = {
        "1000x6-3 +3NF": (1000, 6, 3, "uniform", 0.5),
        "mine k=2 noise_share=0": (60, 4, 2, "uniform", 0.0),
        "mine k=2 noise_share=0.5": (60, 4, 2, "uniform", 0.5),
        "mine k=3 noise_share=0": (60, 4, 3, "uniform", 0.0),
        "mine k=3 noise_share=0.5": (60, 4, 3, "uniform", 0.5),
        "table": (6, 2, 2, "", MISSING),
    }
    facts = zip(*(opened[name].fillna(MISSING).values for name in COORDINATES), strict=True)
    assert dict(zip(opened.config.values.tolist(), facts, strict=True)) == expected


def test_xarray_groups_by_a_coordinate(cube: Path) -> None:
    means = open_cube(cube).kmeans_ari.mean(["restart", "dataset", "normalisation"])
    found = means.groupby("noise_share").mean().compute()
    assert found.noise_share.values.tolist() == [0, 0.5]
    mine = means.sel(config=["mine k=2 noise_share=0", "mine k=3 noise_share=0"])
    assert float(found.sel(noise_share=0)) == pytest.approx(float(mine.mean()))


def test_queries_keep_the_coordinates(cube: Path) -> None:
    best = best_average(select(open_cube(cube), where={"k": 3, "n": 60}))
    assert best.noise_share.values.tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"noise_share": 0.5, "k": 3}, ["1000x6-3 +3NF", "mine k=3 noise_share=0.5"]),
        ({"noise_share": "0.5", "k": ["2"]}, ["mine k=2 noise_share=0.5"]),
        ({"k": [2], "n": 60.0, "noise_share": (0,)}, ["mine k=2 noise_share=0"]),
        ({"m": 2}, ["table"]),
        ({"noise": "uniform", "m": 6}, ["1000x6-3 +3NF"]),
    ],
)
def test_a_selection_has_all_values_that_were_asked_for(
    cube: Path, where: dict[str, Any], expected: list[str]
) -> None:
    assert select(open_cube(cube), where=where).config.values.tolist() == expected


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"noise_share": 0.25}, r"No configuration has noise_share = 0.25. Known: 0.5, 0.0."),
        ({"share": 0.5}, r"Unknown coordinate of configurations 'share'.* Known: n, m, k, noise"),
        ({"k": "three"}, "k is a number, got 'three'"),
        ({"n": 1000, "k": 2}, "No configuration has n = 1000 and k = 2 together"),
    ],
)
def test_a_selection_of_nothing_is_refused(cube: Path, where: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        select(open_cube(cube), where=where)


def test_an_extension_by_one_more_share_changes_no_other_value(tmp_path: Path) -> None:
    """New configurations are stored last, but opened in the order of the spec."""
    cube, spec = tmp_path / "cube.zarr", SweepSpec(datasets=data(), **KEYS)
    larger = SweepSpec(datasets=data(noise_share=[0, 0.25, 0.5]), **KEYS)
    create_cube(cube, spec)
    for tile in spec.tiles:
        write_tile(cube, tile, [run_tile(spec, tile)])
    before = open_cube(cube).load()
    extend_cube(cube, larger)
    for tile in set(larger.tiles) - set(spec.tiles):
        write_tile(cube, tile, [run_tile(larger, tile)])
    after = open_cube(cube).load()
    assert after.noise_share.values.tolist() == [0, 0.25, 0.5] * 2
    xr.testing.assert_identical(after.sel(config=before.config).drop_attrs(), before.drop_attrs())
    for tile in larger.tiles:  # what the first sweep computed is what the larger one would compute
        here = {"config": tile.config, "dataset": tile.dataset, "normalisation": "range"}
        computed = run_tile(larger, tile).arrays["rescaled_kmeans_ari"]
        np.testing.assert_array_equal(after.rescaled_kmeans_ari.sel(here).values, computed)


def test_an_extension_to_other_data_of_the_same_names_is_refused(tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    create_cube(cube, SweepSpec(datasets=data(), **KEYS))
    with pytest.raises(CubeMismatchError, match=r"spread: \[0.5, 1.5\] \(cube\), \[1"):
        extend_cube(cube, SweepSpec(datasets=data(spread=[1, 2]), **KEYS))
