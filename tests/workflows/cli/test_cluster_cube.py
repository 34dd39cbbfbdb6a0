"""Clusters of a cube's table, at the exponents that are best in the cube."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from sklearn.metrics import adjusted_rand_score

from pipeline.core import ImwkResult, imwk, normalise
from pipeline.spec.sweep import Sweep
from storage import create_cube, open_cube
from tests.own_tables import small_table
from tests.storage.made_up import small_spec
from tests.workflows.commands import assert_refused
from tests.workflows.commands import imwk as command
from workflows import submit

KEYS: dict[str, Any] = {
    "normalisations": ["range", "z-score"],
    "restarts": 0,
    "centre": "fixed-step",
    "dtype": "float32",
    "p1": [1.3, 2, 4],
    "p2": [1.5, 3],
}


def noisy(*, labelled: bool) -> Any:
    """Return data in which exponents matter."""
    table = small_table(3, labelled=labelled)
    table.X[:, :2] += np.random.default_rng(1).normal(0, 0.5, (len(table.X), 2))
    return table


@pytest.fixture(scope="module", params=[True, False], ids=["labels", "no labels"])
def swept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of one table, which has no file."""
    location = tmp_path_factory.mktemp("best") / "my.zarr"
    submit(Sweep.of({"my": noisy(labelled=request.param)}, k=3, **KEYS), location, workers=0)
    return location


def facts(*arguments: object) -> dict[str, Any]:
    result = command("cluster", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def grid_of(cube: Path) -> tuple[str, xr.DataArray]:
    """Return the score that decides, and its grid."""
    opened = open_cube(cube).load()
    score = "ari" if "rescaled_imwk_ari" in opened else "silhouette"
    return score, opened[f"rescaled_imwk_{score}"].sel(config="my", dataset=0)


def test_the_clusters_are_the_best_of_the_cube(swept: Path) -> None:
    score, grid = grid_of(swept)
    assert len(np.unique(grid)) > 3
    found = facts(swept)
    assert found[score] == pytest.approx(float(grid.max()), abs=1e-12)
    there = grid.sel({name: found[name] for name in ("normalisation", "p1", "p2")})
    assert float(there) == float(grid.max())


def test_the_labels_are_written_and_the_choice_is_printed(swept: Path, tmp_path: Path) -> None:
    score, grid = grid_of(swept)
    out = tmp_path / "labels.csv"
    result = command("cluster", swept, "-o", out)
    choice, *_ = result.stdout.splitlines()
    assert choice.endswith(f": the best rescaled_imwk_{score}, {float(grid.max()):.4f}")
    assert result.stdout.endswith(f"labels of 40 rows in {out}\n")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    labels = [int(row["cluster"]) for row in rows]
    assert len(labels) == 40
    if score == "ari":
        classes = [row["class"] for row in rows]
        assert adjusted_rand_score(classes, labels) == pytest.approx(float(grid.max()))


def test_options_restrict_the_choice(swept: Path) -> None:
    score, grid = grid_of(swept)
    found = facts(swept, "--normalisation", "z-score", "--p1", 2)
    assert (found["normalisation"], found["p1"]) == ("z-score", 2)
    best = grid.sel(normalisation="z-score", p1=2).max()
    assert found[score] == pytest.approx(float(best), abs=1e-12)


def by_feature(weights: Any) -> list[list[float]]:
    """Return weights with the digits to which a cube keeps them."""
    return [[float(f"{weight:.5g}") for weight in feature] for feature in weights.T]


def test_weights_are_those_of_the_sweep(swept: Path) -> None:
    found = facts(swept, "--normalisation", "range", "--p1", 1.3)
    X = normalise(noisy(labelled=False).X, "range")
    for centre, same in (("fixed-step", True), ("exact", False)):
        run = imwk(X, 3, 1.3, centre, KEYS["dtype"])
        assert (list(found["weights"]["p1"].values()) == by_feature(run.weights)) == same


def test_runs_that_are_computed_again_have_the_settings_of_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep.of({"my": noisy(labelled=True)}, k=3, keep=[], **KEYS)
    submit(sweep, tmp_path / "my.zarr", workers=0)
    settings = []

    def noted(X: Any, k: int, p: float, centre: str, dtype: str) -> ImwkResult:
        settings.append((k, centre, dtype))
        return imwk(X, k, p, centre, dtype)

    monkeypatch.setattr("workflows.clustering.imwk", noted)
    facts(tmp_path / "my.zarr")
    assert settings == [(3, "fixed-step", "float32")] * 2


@pytest.mark.parametrize("keep", [[], ["labels"]], ids=["nothing", "labels only"])
@pytest.mark.parametrize("k", [3, 30])
def test_kept_runs_are_shown_as_if_they_were_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: list[str], k: int
) -> None:
    kept, again = tmp_path / "my.zarr", tmp_path / "again" / "my.zarr"
    sweep = Sweep.of({"my": noisy(labelled=True)}, k=k, **KEYS)
    submit(sweep, kept, workers=0)
    spec = sweep.spec.model_copy(update={"keep": tuple(keep)})
    submit(Sweep(spec, sweep.tables), again, workers=0)
    wanted = [command("cluster", again, *options) for options in ((), ("--json",))]
    monkeypatch.setattr("workflows.clustering.imwk", None)  # nothing is computed from now on
    for options, result in zip(((), ("--json",)), wanted, strict=True):
        shown = command("cluster", kept, *options)
        assert (shown.exit_code, shown.output) == (0, result.output)
    if k == 30:
        assert "clusters were found, not 30." in wanted[0].stderr


def test_a_sweep_without_plain_runs_is_computed_again(tmp_path: Path) -> None:
    parts = {"parts": ["rescaled_imwk"]}
    sweep = Sweep.of({"my": noisy(labelled=True)}, k=3, **KEYS | parts)
    submit(sweep, tmp_path / "my.zarr", workers=0)
    assert list(facts(tmp_path / "my.zarr")["weights"]) == ["p1", "p2"]


def test_mistakes_are_named(swept: Path, tmp_path: Path) -> None:
    empty, several = tmp_path / "empty.zarr", tmp_path / "several.zarr"
    made_up = tmp_path / "made-up.zarr"
    one, two = noisy(labelled=False), small_table(labelled=False)
    for location, tables in ((empty, {"my": one}), (several, {"my": one, "other": two})):
        sweep = Sweep.of(tables, k=3, **KEYS)
        create_cube(location, sweep.spec, sweep.tables)
    create_cube(made_up, small_spec())
    for arguments, words in (
        ((swept, "--k", 4), "--k is for files."),
        ((swept, "--missing", "impute"), "--missing is for files."),
        ((swept, "--p1", 1.31), "Near it are 1.3, 2"),
        ((swept, "--config", "mine"), "Unknown table 'mine'"),
        ((empty,), "No tile of my is done yet."),
        ((several,), "2 tables: my, other. Choose one of them. See --config."),
        ((several, "--config", "other"), "No tile of other is done yet."),
        ((made_up,), "synthetic data only"),
        ((tmp_path / "no.zarr",), "There is no cube"),
        (("my.csv", "--k", 3, "--config", "my"), "--config needs a cube"),
    ):
        assert_refused(command("cluster", *arguments), words)


def test_the_silhouette_of_a_large_table_uses_the_rows_of_the_sweep(
    tmp_path: Path,
) -> None:
    table = small_table(labelled=False, rows=2100)  # the silhouette is of 2,000 rows
    sweep = Sweep.of({"my": table}, k=3, **{**KEYS, "centre": "exact", "p1": [2], "p2": [2]})
    submit(sweep, tmp_path / "my.zarr", workers=0)
    best = float(open_cube(tmp_path / "my.zarr").rescaled_imwk_silhouette.max())
    assert facts(tmp_path / "my.zarr")["silhouette"] == best
