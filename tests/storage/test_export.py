import csv
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from storage import CubeError, DamagedCubeError, create_cube, mark_failed, open_cube
from storage.layout.schema import RESULTS
from storage.query.export import COLUMNS, export_cube
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


def test_rows_are_the_labelled_values_of_the_cube(location: Path, tmp_path: Path) -> None:
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


def test_small_pieces_are_the_same_rows(
    location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_cube(location, tmp_path / "out.csv")
    monkeypatch.setattr("storage.query.export.MOST_ROWS", 5)
    export_cube(location, tmp_path / "small.csv")
    assert (tmp_path / "small.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_an_empty_cube_gives_the_header_alone(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    assert export_cube(tmp_path / "cube.zarr", tmp_path / "out.csv") == 0
    assert (tmp_path / "out.csv").read_text() == ",".join(COLUMNS) + "\n"
    assert export_cube(tmp_path / "cube.zarr", tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_another_ending_is_refused(location: Path, tmp_path: Path) -> None:
    with pytest.raises(CubeError, match=r"ends in \.csv or \.parquet"):
        export_cube(location, tmp_path / "out.xlsx")


def test_a_folder_that_is_not_there_is_one_clean_error(location: Path, tmp_path: Path) -> None:
    with pytest.raises(CubeError, match="Cannot export"):
        export_cube(location, tmp_path / "none" / "out.csv")


def test_damage_leaves_the_old_file_and_nothing_else(location: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    chunk = next((location / "rescaled_imwk_ari").glob("c.1.*"))
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(DamagedCubeError, match="imwk verify CUBE --repair"):
        export_cube(location, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"cube.zarr", "out.csv"}


def test_parquet_without_pyarrow_says_what_to_install(
    location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CubeError, match=r"imwk-sweep\[parquet\]"):
        export_cube(location, tmp_path / "out.parquet")
