"""Replicates: files that are the data sets of one configuration, from the spec to the means."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.datasets import Table, read_table
from pipeline.errors import SpecError
from pipeline.execution.block import run_tile
from pipeline.spec.toml import read_sweep
from storage import (
    CubeMismatchError,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    read_spec,
    stored_table,
)
from storage.tiles import write_tile
from tests.own_tables import small_table, written
from tests.workflows.commands import imwk, output_of
from workflows import submit
from workflows.recompute import recompute

SPEC = """
normalisations = ["range"]
restarts = 2
p1 = {values = [1.5, 2]}
p2 = {values = [2]}
[datasets.tables.mine]
files = "reps/*.csv"
label = "species"
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write three replicates, whose natural order is not the alphabetical one, and their spec."""
    (tmp_path / "reps").mkdir()
    for number in (1, 2, 10):
        written(small_table(number), tmp_path / "reps" / f"rep{number}.csv")
    file = tmp_path / "spec.toml"
    file.write_text(SPEC)
    return file


def rep(spec: Path, number: int) -> Path:
    return spec.parent / "reps" / f"rep{number}.csv"


def drop_columns(file: Path, table: Table) -> None:
    written(Table(table.X[:, 1:], table.features[1:], table.classes, table.class_names), file)


def test_data_sets_are_in_natural_order_and_are_averaged(spec: Path, tmp_path: Path) -> None:
    sweep, cube = read_sweep(spec), tmp_path / "cube.zarr"
    assert (sweep.spec.configs, sweep.spec.dataset_count("mine")) == (("mine",), 3)
    submit(sweep, cube, workers=0)
    for number, name in enumerate((1, 2, 10)):
        table = read_table(rep(spec, name), "species")
        np.testing.assert_array_equal(stored_table(cube, "mine", number).X, table.X)
        tile = sweep.spec.tiles[number]
        computed = run_tile(sweep.spec, tile, table).arrays["imwk_ari"]
        np.testing.assert_array_equal(open_cube(cube).imwk_ari[0, number, 0].values, computed)
    rows = output_of("query", cube, "--average", "--variable", "imwk_ari", "--csv").splitlines()
    assert rows[0] == "config,normalisation,p1,imwk_ari,spread,datasets"
    assert [row.rsplit(",")[-1] for row in rows[1:]] == ["3", "3"]
    assert recompute(cube, 3).share == 1.0  # needs every data set's own table


def test_a_stopped_sweep_is_resumed_without_the_files(spec: Path, tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    whole, sweep = tmp_path / "whole.zarr", read_sweep(spec)
    submit(sweep, whole, workers=0)
    create_cube(cube, sweep.spec, sweep.tables)
    first = sweep.spec.tiles[0]
    write_tile(cube, first, [run_tile(sweep.spec, first, read_table(rep(spec, 1), "species"))])
    for number in (1, 2, 10):
        rep(spec, number).unlink()
    submit(read_spec(cube), cube, workers=0)
    np.testing.assert_array_equal(
        open_cube(cube).rescaled_kmeans_ari.values, open_cube(whole).rescaled_kmeans_ari.values
    )


def test_more_files_extend_a_cube_if_the_first_ones_are_unchanged(
    spec: Path, tmp_path: Path
) -> None:
    cube = tmp_path / "cube.zarr"
    submit(read_sweep(spec), cube, workers=0)
    before = open_cube(cube).imwk_ari.values
    written(small_table(11), rep(spec, 11))
    larger = read_sweep(spec)
    extend_cube(cube, larger.spec, larger.tables)
    submit(larger, cube, workers=0)
    assert read_ledger(cube).counts.done == 4
    np.testing.assert_array_equal(open_cube(cube).imwk_ari.values[:, :3], before)
    written(small_table(12), rep(spec, 3))  # comes between the others
    shifted = read_sweep(spec)
    with pytest.raises(CubeMismatchError, match=r"datasets\.matrices\.mine: "):
        extend_cube(cube, shifted.spec, shifted.tables)


def test_several_k_share_all_files(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SPEC + "k = [2, 3]\n")
    sweep = read_sweep(spec)
    assert sweep.spec.configs == ("mine k=2", "mine k=3")
    assert (len(sweep.spec.tiles), len(sweep.tables)) == (6, 3)
    submit(sweep, tmp_path / "cube.zarr", workers=0)
    assert open_cube(tmp_path / "cube.zarr").k.values.tolist() == [2, 3]
    refused = imwk("cluster", tmp_path / "cube.zarr", "--config", "mine k=2")
    assert refused.exit_code == 2
    assert "has 3 data sets" in refused.stderr


def test_files_of_different_shapes_are_refused_by_name(spec: Path) -> None:
    drop_columns(rep(spec, 2), small_table(2))
    with pytest.raises(SpecError, match=r"rep2.csv has 2 features, but rep1.csv has 3"):
        read_sweep(spec)
    written(small_table(2, rows=41), rep(spec, 2))
    with pytest.raises(SpecError, match=r"rep2.csv has 41 rows, but rep1.csv has 40"):
        read_sweep(spec)
    two = small_table(2)
    assert two.classes is not None
    written(Table(two.X, two.features, two.classes % 2, ("p", "q")), rep(spec, 2))
    with pytest.raises(SpecError, match=r"rep2.csv has 2 classes, but rep1.csv has 3"):
        read_sweep(spec)
    spec.write_text(SPEC + "k = 3\n")
    assert read_sweep(spec).spec.dataset_count("mine") == 3


@pytest.mark.parametrize("pattern", ["nothing/*.csv", "reps", "", "\\u0000"])
def test_a_pattern_without_files_is_refused(spec: Path, pattern: str) -> None:
    spec.write_text(SPEC.replace("reps/*.csv", pattern))
    with pytest.raises(SpecError, match=r'datasets.tables.mine = ".*": no file matches'):
        read_sweep(spec)


def test_files_that_are_too_large_together_are_refused(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.spec.replicates.MOST_CELLS", 2 * 40 * 3)
    with pytest.raises(SpecError, match=r"the first 3 of 3 files have more than 240 cells"):
        read_sweep(spec)


def test_a_file_and_files_are_refused(spec: Path) -> None:
    spec.write_text(SPEC + 'file = "reps/rep1.csv"\n')
    with pytest.raises(SpecError, match="give either file, or files"):
        read_sweep(spec)
