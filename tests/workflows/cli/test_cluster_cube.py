"""Clusters of a cube's table, at the exponents that are best in the cube."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import storage
from pipeline import register_score
from pipeline.core import ImwkResult, imwk, normalise
from pipeline.datasets import Table
from pipeline.spec.sweep import Sweep
from storage import create_cube, open_cube
from storage.tiles import mark_missing
from tests.own_tables import small_table
from tests.storage.made_up import small_spec
from tests.workflows.commands import assert_refused
from tests.workflows.commands import imwk as command
from workflows import choose, submit
from workflows.choice.advice import advice_on, taken_pick

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


def best_in(cube: Path, score: str, **where: Any) -> float:
    """Return the best of all plain and rescaled runs, or of those at some exponents."""
    opened = open_cube(cube).load().sel(config="my", dataset=0)
    names = (f"imwk_{score}", f"rescaled_imwk_{score}")
    return max(float(opened[name].sel(where).max()) for name in names)


@pytest.mark.parametrize("rule", ["info", "silhouette", "ari"])
def test_the_clusters_are_the_best_of_the_cube(swept: Path, rule: str) -> None:
    if rule == "ari" and "imwk_ari" not in open_cube(swept):
        assert_refused(command("cluster", swept, "--by", "ari"), "ari needs classes", "--by")
        return
    found = facts(swept, "--by", rule)
    best = best_in(swept, rule)
    assert (found["by"], found["score"]) == (rule, best)
    part = "rescaled_imwk" if "p2" in found else "imwk"
    assert found["part"] == part
    where = {name: found[name] for name in ("normalisation", "p1", "p2") if name in found}
    there = open_cube(swept)[f"{part}_{rule}"].sel(config="my", dataset=0, **where)
    assert float(there) == best


def test_the_labels_are_written_and_the_choice_is_printed(swept: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    result = command("cluster", swept, "-o", out)
    choice, *_ = result.stdout.splitlines()
    assert choice.endswith(f": the best info, {best_in(swept, 'info'):.4f}")
    assert result.stdout.endswith(f"labels of 40 rows in {out}\n")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    labels = [int(row["cluster"]) for row in rows]
    assert len(labels) == 40
    if "class" in rows[0]:
        agreement = adjusted_rand_score([row["class"] for row in rows], labels)
        assert f"adjusted Rand index {agreement:.4f}" in result.stdout


def test_options_restrict_the_choice(swept: Path) -> None:
    found = facts(swept, "--normalisation", "z-score", "--p1", 2)
    assert (found["normalisation"], found["p1"]) == ("z-score", 2)
    assert found["score"] == best_in(swept, "info", normalisation="z-score", p1=2)
    assert facts(swept, "--p2", 3)["p2"] == 3


def test_an_undefined_score_does_not_lift_a_restriction(tmp_path: Path) -> None:
    keys = KEYS | {"restarts": 2, "p1": [2], "p2": [2]}
    submit(Sweep.of({"my": noisy(labelled=False)}, k=1, **keys), tmp_path / "my.zarr", workers=0)
    found = facts(tmp_path / "my.zarr", "--by", "davies-bouldin", "--normalisation", "range")
    assert found["normalisation"] == "range"
    assert found["baseline"]["part"] == "kmeans"


def test_the_baseline_is_printed_beside_the_choice(tmp_path: Path) -> None:
    sweep = Sweep.of({"my": noisy(labelled=True)}, k=3, **KEYS | {"restarts": 3})
    submit(sweep, tmp_path / "my.zarr", workers=0)
    _, line, *_ = command("cluster", tmp_path / "my.zarr").stdout.splitlines()
    assert re.fullmatch(
        r"baseline: k-means\+\+ on (range|z-score), info -?\d+\.\d{4}, "
        r"adjusted Rand index \d\.\d{4}",
        line,
    )


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of noise, about which rules disagree, with the score of a plug-in."""
    location = tmp_path_factory.mktemp("restarted") / "my.zarr"
    register_score("least-cluster", lambda _, labels: int(np.bincount(labels).min()), version="1")
    keys = KEYS | {"restarts": 3, "scores": ["info", "least-cluster"]}
    table = Table(np.random.default_rng(0).normal(size=(40, 4)), tuple("abcd"))
    submit(Sweep.of({"my": table}, k=3, **keys), location, workers=0)
    return location


def test_the_advice_can_be_carried_out(restarted: Path, tmp_path: Path) -> None:
    (picked,) = choose(restarted)
    advice = advice_on(picked)
    wanted = taken_pick(picked, advice)
    found = facts(restarted, "--by", "advice", "-o", tmp_path / "labels.csv")
    assert found["advice"] == advice.sentence
    with (tmp_path / "labels.csv").open(newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert labels == wanted.labels.tolist()
    shown = command("cluster", restarted, "--by", "advice").stdout
    assert f"\nadvice: {advice.sentence}\n" in shown
    refused = command("cluster", restarted, "--by", "advice", "--p1", 2)
    assert_refused(refused, "The advice compares all runs.", "--p1")


def test_advice_against_the_default_choice_is_printed(restarted: Path) -> None:
    (picked,) = choose(restarted)
    info, taken = picked.by("info"), taken_pick(picked, advice_on(picked))
    assert info is not None
    assert adjusted_rand_score(info.labels, taken.labels) < 1
    shown = command("cluster", restarted).stdout.splitlines()
    assert shown[2] == f"advice: {advice_on(picked).sentence}"
    assert "advice: " not in command("cluster", restarted, "--by", "info").stdout


@pytest.mark.parametrize("normalisation", ["range", "z-score"])
def test_the_baseline_can_be_clustered(restarted: Path, normalisation: str) -> None:
    one = ("--normalisation", normalisation)
    found = facts(restarted, "--by", "k-means++", *one)
    assert (found["part"], found["normalisation"]) == ("kmeans", normalisation)
    labels = storage.labels(restarted, part="kmeans", normalisation=normalisation).values
    assert found["sizes"] == np.bincount(labels.ravel()).tolist()
    assert facts(restarted, *one)["baseline"]["normalisation"] == normalisation
    assert "baseline: " not in command("cluster", restarted, "--by", "k-means++").stdout


def test_the_consensus_can_be_clustered(restarted: Path, tmp_path: Path) -> None:
    (picked,) = choose(restarted, ensemble=True)
    wanted = picked.by("ensemble")
    assert wanted is not None
    found = facts(restarted, "--by", "ensemble", "-o", tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert labels == wanted.labels.tolist()
    nothing: dict[str, Any] = {
        "part": None,
        "normalisation": None,
        "weights": {},
        "silhouette": None,
    }
    assert {name: found[name] for name in nothing} == nothing
    assert (found["rated_by"], found["score"]) == ("info", wanted.score)
    shown = command("cluster", restarted, "--by", "ensemble").stdout
    assert shown.startswith("consensus of runs, without exponents and weights: info ")
    one = ("--normalisation", "range", "--p1", 2, "--p2", 3)
    refused = command("cluster", restarted, "--by", "ensemble", *one)
    assert_refused(refused, "There is no ensemble of my: it needs 5 runs, and there are 1.")


def test_a_stored_score_of_a_plug_in_can_choose(restarted: Path) -> None:
    found = facts(restarted, "--by", "least-cluster")
    opened = open_cube(restarted)
    names = [f"{part}_least_cluster" for part in ("imwk", "rescaled_imwk")]
    assert found["score"] >= max(float(opened[name].max()) for name in names)
    assert min(found["sizes"]) == found["score"]


def test_kmeans_can_be_the_best_and_has_no_weights(tmp_path: Path) -> None:
    keys = KEYS | {"restarts": 30, "p1": [1.3], "p2": [1.5], "normalisations": ["range"]}
    submit(Sweep.of({"my": noisy(labelled=False)}, k=3, **keys), tmp_path / "my.zarr", workers=0)
    found = facts(tmp_path / "my.zarr", "--by", "calinski-harabasz")
    assert (found["part"], found["weights"]) == ("kmeans", {})
    assert found["score"] == found["baseline"]["score"]
    labels = storage.labels(tmp_path / "my.zarr", part="kmeans").values.ravel()
    assert found["sizes"] == np.bincount(labels).tolist()


def by_feature(weights: Any) -> list[list[float]]:
    """Return weights with the digits to which a cube keeps them."""
    return [[float(f"{weight:.4g}") for weight in feature] for feature in weights.T]


def test_weights_are_those_of_the_sweep(swept: Path) -> None:
    found = facts(swept, "--normalisation", "range", "--p1", 1.3, "--p2", 3)
    X = normalise(noisy(labelled=False).X, "range")
    run = imwk(X, 3, 1.3, KEYS["centre"], KEYS["dtype"])
    assert list(found["weights"]["p1"].values()) == by_feature(run.weights)


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
    one = ["--normalisation", "range", "--p1", "2", "--p2", "3"]
    wanted = command("cluster", again, *one), facts(again, *one)
    monkeypatch.setattr("workflows.clustering.imwk", None)  # nothing is computed from now on
    shown = command("cluster", kept, *one)
    # The first line has the rule that chose, which differs
    assert shown.stdout.splitlines()[1:] == wanted[0].stdout.splitlines()[1:]
    assert shown.stderr == wanted[0].stderr
    about = dict.fromkeys(("by", "rated_by", "score"))
    assert facts(kept, *one) | about == wanted[1] | about
    if k == 30:
        assert "clusters were found, not 30." in shown.stderr


def test_a_sweep_without_plain_runs_is_computed_again(tmp_path: Path) -> None:
    parts = {"parts": ["rescaled_imwk"]}
    sweep = Sweep.of({"my": noisy(labelled=True)}, k=3, **KEYS | parts)
    submit(sweep, tmp_path / "my.zarr", workers=0)
    assert list(facts(tmp_path / "my.zarr", "--by", "ari")["weights"]) == ["p1", "p2"]


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
        (("my.csv", "--k", 3, "--by", "info"), "--by needs a cube"),
        ((swept, "--by", "infos"), "Unknown rule 'infos'. Did you mean 'info'?"),
        ((swept, "--by", "k-means++"), "No run of my with these options is done."),
    ):
        assert_refused(command("cluster", *arguments), words)


@pytest.mark.parametrize("keep", [[], ["labels"]], ids=["nothing", "labels"])
def test_a_restriction_without_results_is_not_taken_for_an_empty_cube(
    tmp_path: Path, keep: list[str]
) -> None:
    sweep = Sweep.of({"my": noisy(labelled=False)}, k=3, keep=keep, **KEYS)
    submit(sweep, tmp_path / "my.zarr", workers=0)
    mark_missing(tmp_path / "my.zarr", sweep.spec.tiles[:1])
    missing = ("--normalisation", sweep.spec.tiles[0].normalisation)
    refused = command("cluster", tmp_path / "my.zarr", *missing)
    assert_refused(refused, "No run of my with these options is done.", "--normalisation")


def test_a_cube_without_labels_has_no_consensus(tmp_path: Path) -> None:
    sweep = Sweep.of({"my": noisy(labelled=False)}, k=3, keep=[], **KEYS)
    create_cube(tmp_path / "my.zarr", sweep.spec, sweep.tables)
    refused = command("cluster", tmp_path / "my.zarr", "--by", "ensemble")
    assert_refused(refused, "ensemble compares the labels of all runs, and this cube keeps none.")


def test_the_silhouette_of_a_large_table_uses_the_rows_of_the_sweep(
    tmp_path: Path,
) -> None:
    table = small_table(labelled=False, rows=2100)  # the silhouette is of 2,000 rows
    sweep = Sweep.of({"my": table}, k=3, **{**KEYS, "centre": "exact", "p1": [2], "p2": [2]})
    submit(sweep, tmp_path / "my.zarr", workers=0)
    best = float(open_cube(tmp_path / "my.zarr").rescaled_imwk_silhouette.max())
    assert facts(tmp_path / "my.zarr", "--p2", 2)["silhouette"] == best
