"""Tables are stored in the cube, once and atomically, and checked by their hash."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import xarray as xr

from pipeline.datasets import Table
from pipeline.spec import SweepSpec
from pipeline.spec.sources import TableFacts
from pipeline.spec.sweep import Sweep
from storage import (
    CubeError,
    CubeMismatchError,
    DamagedCubeError,
    Status,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    stored_table,
    verify_cube,
)
from storage.handle import open_handle
from storage.query import unlabelled_configs
from storage.tables import TABLES, add_tables
from tests.own_tables import small_table
from tests.storage.made_up import CONFIGS, comparable, fill, plain

MINE, OTHER, UNLABELLED = small_table(), small_table(1), small_table(2, labelled=False)
KEYS: dict[str, Any] = {
    "normalisations": ["range"],
    "p1": [1.1, 2.0],
    "p2": [1.5, 3.0],
    "restarts": 3,
}


def sweep(
    tables: Mapping[str, Table], synthetic: int = 0, k: int | None = None, **keys: Any
) -> Sweep:
    """Return a small sweep of tables, and of synthetic data sets in two configurations."""
    datasets: dict[str, Any] = {
        "matrices": {name: TableFacts.of(table, k) for name, table in tables.items()}
    }
    if synthetic:
        datasets["synthetic"] = {"configs": list(CONFIGS[:2]), "count": synthetic}
    spec = SweepSpec.model_validate({**KEYS, **keys, "datasets": datasets})
    return Sweep(spec, {table.sha256: table for table in tables.values()})


def create(location: Path, wanted: Sweep) -> Path:
    create_cube(location, wanted.spec, wanted.tables)
    return location


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    return tmp_path / "cube.zarr"


def assert_same(one: Table, other: Table) -> None:
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_equal(one.classes, other.classes)
    assert (one.features, one.class_names) == (other.features, other.class_names)


def test_tables_are_read_as_they_were_given(cube: Path) -> None:
    create(cube, sweep({"mine": MINE, "ÖD/..": UNLABELLED}, k=3))
    assert_same(stored_table(cube, "mine"), MINE)
    assert_same(stored_table(cube, "ÖD/.."), UNLABELLED)
    plain(cube)  # tables do not disturb xarray


def test_tables_are_stored_in_an_object_store() -> None:
    url = f"memory:///{uuid4().hex}"
    small, larger = sweep({"mine": MINE}, k=3), sweep({"mine": MINE, "other": UNLABELLED}, k=3)
    create_cube(url, small.spec, small.tables)
    fill(url)
    extend_cube(url, larger.spec, larger.tables)
    fill(url)
    assert_same(stored_table(url, "mine"), MINE)
    assert_same(stored_table(url, "other"), UNLABELLED)
    assert not verify_cube(url).damaged


def test_a_large_table_is_stored_in_chunks(cube: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.tables.CHUNK_CELLS", 10)
    create(cube, sweep({"mine": MINE}))
    assert len(list(cube.glob(f"{TABLES}/*/X/c.*"))) == 14
    assert_same(stored_table(cube, "mine"), MINE)


def test_equal_tables_are_stored_once(cube: Path) -> None:
    create(cube, sweep({"mine": MINE, "again": MINE}))
    assert len(list(cube.glob(f"{TABLES}/*/X"))) == 1


def test_a_cube_is_not_created_without_its_tables(cube: Path) -> None:
    wanted = sweep({"mine": MINE, "other": OTHER})
    with pytest.raises(CubeError, match="The data of mine, other are needed once"):
        create_cube(cube, wanted.spec)
    assert not cube.exists()


def test_an_existing_cube_needs_no_tables(cube: Path) -> None:
    wanted = sweep({"mine": MINE})
    create(cube, wanted)
    create_cube(cube, wanted.spec)
    assert_same(stored_table(cube, "mine"), MINE)


def test_other_data_or_another_k_make_another_sweep(cube: Path) -> None:
    create(cube, sweep({"mine": MINE}))
    for other in (sweep({"mine": OTHER}), sweep({"mine": MINE}, k=4)):
        for put in (create_cube, extend_cube):
            with pytest.raises(
                CubeMismatchError, match=r"datasets\.matrices\.mine: 40 x 3, labels"
            ):
                put(cube, other.spec, other.tables)
    assert_same(stored_table(cube, "mine"), MINE)


def test_tables_beside_synthetic_data_leave_tiles_outside_the_sweep(cube: Path) -> None:
    create(cube, sweep({"mine": MINE}, synthetic=5))
    fill(cube)
    ledger = read_ledger(cube)
    assert (ledger.counts.done, ledger.not_part) == (2 * 5 + 1, 4)
    outside = plain(cube).sel(config="mine", dataset=slice(1, None))
    assert (outside.status == Status.NOT_PART).all()
    assert ledger.by_config["mine"].total == 1
    assert verify_cube(cube).checked == 11
    opened = open_cube(cube)
    assert opened.config.values.tolist() == [*CONFIGS[:2], "mine"]
    assert opened.rescaled_imwk_ari.sel(config="mine").count() == 4


STEPS = (
    sweep({"mine": MINE}, p1=[2.0]),
    sweep({"mine": MINE, "other": OTHER}),
    sweep({"mine": MINE, "other": OTHER, "later": small_table(3)}, synthetic=2),
)


def test_a_cube_is_extended_by_tables_and_by_synthetic_data(tmp_path: Path, cube: Path) -> None:
    create(cube, STEPS[0])
    fill(cube)
    for step in STEPS[1:]:
        # tables that are stored already need not be given again
        new = {sha256: table for sha256, table in step.tables.items() if table is not MINE}
        extend_cube(cube, step.spec, new)
        fill(cube)
    at_once = create(tmp_path / "at-once.zarr", STEPS[-1])
    fill(at_once)
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(at_once)))
    assert verify_cube(cube).damaged == {}
    assert_same(stored_table(cube, "other"), OTHER)


def test_a_cube_is_not_extended_without_the_new_tables(cube: Path) -> None:
    create(cube, STEPS[0])
    before = plain(cube)
    with pytest.raises(CubeError, match="The data of other are needed once"):
        extend_cube(cube, STEPS[1].spec, STEPS[0].tables)
    xr.testing.assert_identical(plain(cube), before)


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2])


def remove(file: Path) -> None:
    file.unlink()


CHUNKS, DOCUMENTS = ("X/c.0.0", "classes/c.0"), ("X/zarr.json", "zarr.json")


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *product(CHUNKS, (flip_a_bit, cut_short, remove)),
        *product(DOCUMENTS, (cut_short, remove)),
    ],
)
def test_damaged_tables_are_found_and_stored_again(name: str, damage: Any, cube: Path) -> None:
    wanted = create_and_damage(cube, name, damage)
    for read in (verify_cube, lambda location: stored_table(location, "mine")):
        with pytest.raises((DamagedCubeError, CubeError), match="data of mine"):
            read(cube)
    create(cube, wanted)
    assert_same(stored_table(cube, "mine"), MINE)
    assert not verify_cube(cube).damaged


def create_and_damage(cube: Path, name: str, damage: Any) -> Sweep:
    wanted = sweep({"mine": MINE})
    create(cube, wanted)
    damage(cube / TABLES / MINE.sha256 / name)
    return wanted


def test_without_labels_there_is_no_ari(cube: Path) -> None:
    create(cube, sweep({"mine": UNLABELLED}, k=3))
    fill(cube)
    opened = open_cube(cube)
    assert not [name for name in opened if str(name).endswith("_ari")]
    assert unlabelled_configs(opened) == ["mine"]
    assert opened.imwk_clusters.notnull().all()
    assert read_ledger(cube).counts.done == 1
    assert read_ledger(cube).unlabelled == ("mine",)
    assert verify_cube(cube).damaged == {}


def test_the_ari_of_unlabelled_data_beside_labelled_ones_is_nan(cube: Path) -> None:
    create(cube, sweep({"mine": UNLABELLED, "other": OTHER}, k=3))
    fill(cube)
    opened = open_cube(cube)
    assert unlabelled_configs(opened) == ["mine"]
    assert opened.rescaled_imwk_ari.sel(config="mine").isnull().all()
    assert opened.rescaled_imwk_ari.sel(config="other").notnull().all()
    assert opened.rescaled_imwk_clusters.notnull().all()
    assert verify_cube(cube).damaged == {}


def test_an_extension_that_was_killed_is_completed(cube: Path) -> None:
    create(cube, STEPS[0])
    add_tables(open_handle(cube), [OTHER])
    remove(cube / TABLES / OTHER.sha256 / "X" / "c.0.0")
    extend_cube(cube, STEPS[1].spec, STEPS[1].tables)
    assert_same(stored_table(cube, "other"), OTHER)


def test_a_process_reads_a_table_once(cube: Path) -> None:
    create(cube, STEPS[0])
    assert stored_table(cube, "mine") is stored_table(str(cube), "mine")
