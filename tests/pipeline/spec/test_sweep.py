"""Sweeps of tables, DataFrames and arrays, without a spec file."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline import Sweep
from pipeline.datasets import make_table
from pipeline.errors import SpecError, TableError
from pipeline.execution.block import run_tile
from tests.own_tables import small_table

SMALL: dict[str, Any] = {"normalisations": ["range"], "p1": [1.5], "p2": [2.0], "restarts": 2}


def frame() -> pd.DataFrame:
    """Return the data of `small_table` as a DataFrame."""
    table = small_table()
    assert table.classes is not None
    species = [table.class_names[place] for place in table.classes]
    return pd.DataFrame(table.X, columns=list(table.features)).assign(species=species)


def test_a_frame_with_a_label_gives_the_sweep_of_its_table() -> None:
    sweep = Sweep.of({"mine": frame()}, label="species", **SMALL)
    expected = Sweep.of({"mine": small_table()}, **SMALL)
    assert sweep.spec == expected.spec
    assert sweep.spec.fingerprint == expected.spec.fingerprint
    assert sweep.spec.shape("mine") == (40, 3, 3)
    assert list(sweep.tables) == list(expected.tables)


def test_several_k_are_configurations_that_share_the_table() -> None:
    sweep = Sweep.of({"mine": frame()}, [2, 4], label="species", **SMALL)
    assert sweep.spec.configs == ("mine k=2", "mine k=4")
    assert [sweep.spec.shape(config)[2] for config in sweep.spec.configs] == [2, 4]
    assert len(sweep.tables) == 1
    (table,) = sweep.tables.values()
    alone = Sweep.of({"mine": table}, 4, **SMALL)
    one = run_tile(sweep.spec, sweep.spec.tiles[1], table).arrays["imwk_ari"]
    np.testing.assert_array_equal(
        one, run_tile(alone.spec, alone.spec.tiles[0], table).arrays["imwk_ari"]
    )


def test_frames_and_arrays_without_a_label_need_k() -> None:
    X = frame().drop(columns="species")
    for data in (X, X.to_numpy(), X.to_numpy().tolist()):
        sweep = Sweep.of({"mine": data}, k=4, **SMALL)
        assert sweep.spec.unlabelled == ("mine",)
        assert sweep.spec.shape("mine") == (40, 3, 4)
        with pytest.raises(TableError, match=r"^mine: the number of clusters must be given"):
            Sweep.of({"mine": data}, **SMALL)


def test_a_sweep_of_a_frame_runs() -> None:
    sweep = Sweep.of({"mine": frame()}, label="species", **SMALL)
    (table,) = sweep.tables.values()
    arrays = run_tile(sweep.spec, sweep.spec.tiles[0], table).arrays
    assert arrays["rescaled_imwk_ari"].shape == (1, 1)
    assert arrays["rescaled_imwk_ari"][0, 0] > 0.5
    assert pickle.loads(pickle.dumps(sweep)).spec == sweep.spec


def test_several_tables_are_configurations_of_one_sweep() -> None:
    tables = {"b": frame(), "a": make_table(np.eye(3))}
    sweep = Sweep.of(tables, k=2, ignore=(), **SMALL)
    assert sweep.spec.configs == ("a", "b")
    assert sweep.spec.unlabelled == ("a", "b")


def test_options_for_the_encoding_are_passed_on() -> None:
    gaps = frame()
    gaps.loc[3, "a"] = np.nan
    with pytest.raises(TableError, match=r"^mine: values are missing in row 4, column 'a'\."):
        Sweep.of({"mine": gaps}, label="species")
    options: dict[str, Any] = {"missing": "impute", "ignore": ["noise"]}
    sweep = Sweep.of({"mine": gaps}, label="species", **options, **SMALL)
    (table,) = sweep.tables.values()
    assert table.features == ("a", "b")
    assert table.notices == ("missing values of column 'a' became its mean, 1 in all",)


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (
        {"mine": "my.csv"},
        {},
        TableError,
        "^mine: must have two dimensions, got str with 0.*read_table",
    ),
    ({"mine": frame()}, {"label": "specis"}, TableError, "^mine: .*Did you mean 'species'"),
    ({"mine": frame()}, {"k": 41}, TableError, "^mine: k .*40"),
    ({"mine": frame()}, {"k": "three"}, TableError, "^mine: k must be a whole number"),
    ({"mine": small_table()}, {"label": "y"}, TableError, "^mine: is a Table already"),
    (frame(), {}, SpecError, r"tables must be a mapping such as \{'mine': data\}, got DataFrame"),
    ({}, {}, SpecError, "give some data"),
    ({" mine": frame()}, {"k": 2}, SpecError, "give a name of 1 to 60 printable characters"),
    ({"1000x6-3": frame()}, {"k": 2}, SpecError, "is the name of a synthetic configuration"),
    ({"mine": frame()}, {"k": 2, "restart": 3}, SpecError, "Did you mean restarts"),
]


@pytest.mark.parametrize(("tables", "keys", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_unusable_tables_and_keys_are_refused(
    tables: Any, keys: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Sweep.of(tables, **keys)
