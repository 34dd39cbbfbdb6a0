"""A cube that an earlier version wrote is read with the same values, bit for bit."""

import csv
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.rules import RULES
from pipeline.spec import SweepSpec, Tile
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
    reset_failed,
    stored_table,
    verify_cube,
)
from storage.extend import add_scores
from storage.layout.schema import ALL_RESULTS, variables
from storage.query import best_exponents
from storage.query.export import export_cube

HERE = Path(__file__).parent
VERSIONS = sorted(folder.name for folder in HERE.glob("v*"))
COORDINATES = ("config", "dataset", "normalisation", "p1", "p2", "restart")


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> Path:
    return HERE / str(request.param)


@pytest.fixture
def cube(version: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(version / "cube.zip") as archive:
        archive.extractall(tmp_path)
    return next(tmp_path.glob("*.zarr"))


@pytest.fixture
def expected(version: Path, cube: Path) -> xr.Dataset:
    """Return all arrays as that version read them, in the present order of coordinates."""
    opened = open_cube(cube)
    with np.load(version / "values.npz") as stored:
        coordinates = {name: stored[name] for name in COORDINATES}
        values = {str(name): (opened[name].dims, stored[name]) for name in opened.data_vars}
    order = {name: opened[name].values for name in COORDINATES}
    return xr.Dataset(values, coordinates).sel(order)


def test_every_value_is_the_same_bit_for_bit(cube: Path, expected: xr.Dataset) -> None:
    opened = open_cube(cube).load()
    results = [name for name in variables(read_spec(cube).scores) if name in ALL_RESULTS]
    assert set(results) == set(ALL_RESULTS) & set(opened.data_vars)
    for name in results:
        assert opened[name].values.tobytes() == expected[name].values.tobytes(), name
    for name in ("status", "tile_seconds", "error"):
        np.testing.assert_array_equal(opened[name].values, expected[name].values, name)


def test_the_ledger_lists_its_tiles(cube: Path) -> None:
    ledger = read_ledger(cube)
    assert (ledger.counts.done, ledger.counts.missing) == (11, 0)
    assert ledger.failed == {Tile("1000x6-3 WCN", 1, "range"): "the worker died"}
    assert ledger.unlabelled == ("unlabelled",)


def test_it_can_be_queried(cube: Path, expected: xr.Dataset) -> None:
    best = best_exponents(open_cube(cube), "rescaled_imwk_ari").best
    highest = expected.rescaled_imwk_ari.max(["p1", "p2"])
    np.testing.assert_array_equal(best.values, highest.values)


def test_its_configurations_are_described_by_coordinates(cube: Path) -> None:
    opened = open_cube(cube)
    assert opened.noise.values.tolist() == ["none", "within-cluster", "", ""]
    assert opened.noise_share.values[:2].tolist() == [0.0, 0.5]
    assert opened.noise_share.isnull().values.tolist() == [False, False, True, True]
    assert opened.m.values.tolist()[:3] == [6, 6, 4]


def test_it_is_verified_and_its_tables_are_read(cube: Path) -> None:
    found = verify_cube(cube)
    assert (found.checked, dict(found.damaged)) == (11, {})
    assert stored_table(cube, "labelled").X.shape == (60, 4)
    configs = ("1000x6-3", "1000x6-3 WCN", "labelled", "unlabelled")
    assert read_spec(cube).configs == configs


def test_it_keeps_no_labels_and_says_how_to_get_them(cube: Path) -> None:
    with pytest.raises(CubeError, match=r"did not keep them. Submit the sweep to a new cube"):
        labels(cube, config="labelled")


def files_of(cube: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in cube.rglob("*") if path.is_file()}


def test_it_was_computed_by_other_rules_and_has_its_fingerprint(cube: Path) -> None:
    stored = read_spec(cube)
    assert (stored.rules, stored.keep) == (1, ())
    assert stored.fingerprint == read_provenance(cube).fingerprint


CHANGES: dict[str, Callable[[Path, SweepSpec], object]] = {
    "resume": lambda cube, spec: create_cube(cube, spec),
    "resume by its own spec": lambda cube, _: create_cube(cube, read_spec(cube)),
    "extend": lambda cube, spec: extend_cube(cube, spec.model_copy(update={"p1": (*spec.p1, 4.5)})),
    "retry": lambda cube, _: reset_failed(cube, read_ledger(cube).failed),
    "score": lambda cube, _: add_scores(cube, ["info"], lambda *_: {}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_it_is_not_changed_by_present_rules(
    cube: Path, change: Callable[[Path, SweepSpec], object]
) -> None:
    before = files_of(cube)
    present = read_spec(cube).model_copy(update={"rules": RULES})
    with pytest.raises(CubeMismatchError, match=r"version 1 of the rules.*Submit .* a new cube"):
        change(cube, present)
    assert files_of(cube) == before


def test_a_new_cube_is_not_created_by_other_rules(cube: Path, tmp_path: Path) -> None:
    with pytest.raises(CubeMismatchError, match="version 1 of the rules"):
        create_cube(tmp_path / "new.zarr", read_spec(cube))
    assert not (tmp_path / "new.zarr").exists()


def test_its_damage_is_found(cube: Path) -> None:
    chunk = cube / "imwk_ari" / "c.0.0.0.0"
    content = bytearray(chunk.read_bytes())
    content[len(content) // 2] ^= 1
    chunk.write_bytes(content)
    assert list(verify_cube(cube).damaged) == [Tile("1000x6-3", 0, "range")]


def test_it_can_be_exported(cube: Path, tmp_path: Path, expected: xr.Dataset) -> None:
    export_cube(cube, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {"config": "1000x6-3", "normalisation": "range", "variable": "imwk_ari", "p1": "1.4"}
    row = next(row for row in rows if wanted.items() <= row.items())
    value = expected.imwk_ari.sel(config="1000x6-3", normalisation="range", p1=1.4, dataset=0)
    assert float(row["value"]) == float(value)
