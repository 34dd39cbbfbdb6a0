import csv
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.core.errors import InvalidInputError
from pipeline.errors import OutputError
from storage import DamagedCubeError, create_cube, open_cube
from storage.layout.schema import RESULTS
from storage.query.export import COLUMNS, export_cube
from storage.tiles import mark_failed
from tests.storage.made_up import fill, small_spec


@pytest.fixture
def location(tmp_path: Path) -> Path:
    """Return a cube with 7 of 8 tiles done, one of the second configuration failed."""
    location, spec = tmp_path / "cube.zarr", small_spec()
    create_cube(location, spec)
    left_out = next(tile for tile in spec.tiles if tile.config == "1000x12-6")
    fill(location, [tile for tile in spec.tiles if tile != left_out])
    mark_failed(location, left_out, "made to fail")
    return location


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_value_is_one_row(location: Path, tmp_path: Path) -> None:
    rows = export_cube(location, tmp_path / "out.csv")
    written = csv_rows(tmp_path / "out.csv")
    # 3 restarts, 3 p1 thrice, 3 x 3 and 3 x 2 thrice in each of 7 tiles
    assert len(written) == rows == 7 * (3 + 9 + 9 + 18)
    assert Counter(row["variable"] for row in written)["rescaled_imwk_ari"] == 7 * 6
    assert tuple(written[0]) == COLUMNS


def test_rows_have_the_labels_and_values_of_the_cube(location: Path, tmp_path: Path) -> None:
    export_cube(location, tmp_path / "out.csv")
    cube = open_cube(location).load()
    for row in csv_rows(tmp_path / "out.csv"):
        at: dict[str, object] = {
            "config": row["config"],
            "dataset": int(row["dataset"]),
            "normalisation": row["normalisation"],
        }
        at |= {dim: float(row[dim]) for dim in RESULTS[row["variable"]].dims}
        assert float(cube[row["variable"]].sel(at)) == float(row["value"])
        empty = {"p1", "p2", "restart"} - set(RESULTS[row["variable"]].dims)
        assert all(row[dim] == "" for dim in empty)


def test_parquet_holds_the_rows_of_csv(location: Path, tmp_path: Path) -> None:
    export_cube(location, tmp_path / "out.csv")
    export_cube(location, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == list(COLUMNS)
    as_csv = csv_rows(tmp_path / "out.csv")
    assert table["variable"].to_pylist() == [row["variable"] for row in as_csv]
    assert np.array_equal(table["value"].to_numpy(), [float(row["value"]) for row in as_csv])
    restarts = [int(row["restart"]) if row["restart"] else None for row in as_csv]
    assert table["restart"].to_pylist() == restarts


def test_the_rows_do_not_depend_on_the_size_of_pieces(
    location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_cube(location, tmp_path / "out.csv")
    monkeypatch.setattr("storage.query.export.MOST_ROWS", 5)
    export_cube(location, tmp_path / "small.csv")
    assert (tmp_path / "small.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_an_empty_cube_gives_only_the_header(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    assert export_cube(tmp_path / "cube.zarr", tmp_path / "out.csv") == 0
    assert (tmp_path / "out.csv").read_text() == ",".join(COLUMNS) + "\n"
    assert export_cube(tmp_path / "cube.zarr", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_another_ending_is_refused(location: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"ends in \.csv or \.parquet"):
        export_cube(location, tmp_path / "out.xlsx")


def test_a_missing_folder_is_refused(location: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"Cannot write .*out\.csv: No such file"):
        export_cube(location, tmp_path / "none" / "out.csv")


def test_a_damaged_cube_leaves_the_old_file_and_no_other(location: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    chunk = next((location / "rescaled_imwk_ari").glob("c.1.*"))
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(DamagedCubeError, match="imwk verify CUBE --repair"):
        export_cube(location, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"cube.zarr", "out.csv"}


def test_the_error_without_pyarrow_says_what_to_install(
    location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OutputError, match=r"^Parquet files need .*imwk-sweep\[parquet\]"):
        export_cube(location, tmp_path / "out.parquet")
