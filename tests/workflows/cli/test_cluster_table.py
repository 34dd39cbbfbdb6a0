import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from pipeline.core import adjusted_rand_index, imwk, normalise, rescale, silhouette
from pipeline.datasets import Dataset, Table, synthetic_dataset
from tests.own_tables import written
from tests.workflows.commands import assert_refused
from tests.workflows.commands import imwk as command


def data() -> Dataset:
    whole = synthetic_dataset("1000x6-3", 0, seed=2020)
    return Dataset(whole.X[::10], whole.y[::10])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write 100 entities with their classes."""
    names = tuple(f"kind {label}" for label in range(3))
    return written(Table(data().X, tuple("abcdef"), data().y, names), tmp_path / "my.csv")


def run(table: Path, *options: object) -> Result:
    return command("cluster", table, *options)


def facts(table: Path, *options: object) -> dict[str, Any]:
    result = run(table, *options, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def refused(table: Path, *options: object) -> str:
    result = run(table, *options)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)  # not a traceback
    return result.stderr


def labels_in(path: Path) -> tuple[list[str], list[int]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == [str(row) for row in range(1, 101)]
    return [row.get("class", "") for row in rows], [int(row["cluster"]) for row in rows]


def test_labels_weights_and_scores_equal_those_of_the_core(table: Path) -> None:
    out = table.with_name("labels.csv")
    options = ("--k", 3, "--p1", 1.5, "--p2", 2.5, "--normalisation", "z-score")
    found = facts(table, *options, "--label", "species", "-o", out)
    X = normalise(data().X, "z-score")
    first = imwk(X, 3, 1.5)
    second = imwk(rescale(X, first.labels, first.weights), 3, 2.5)
    classes, labels = labels_in(out)
    assert labels == second.labels.tolist()
    assert classes == [f"kind {label}" for label in data().y]
    assert found["weights"]["p1"] == by_feature(first.weights)
    assert found["weights"]["p2"] == by_feature(second.weights)
    assert found["sizes"] == np.bincount(second.labels).tolist()
    assert found["ari"] == adjusted_rand_index(data().y, second.labels)
    assert found["silhouette"] == silhouette(X, second.labels)


def by_feature(weights: Any) -> dict[str, list[float]]:
    return dict(zip("abcdef", weights.T.tolist(), strict=True))


def test_without_p2_data_are_not_rescaled(table: Path) -> None:
    out = table.with_name("labels.csv")
    found = facts(table, "--k", 4, "--p1", 1.5, "--ignore", "species", "-o", out)
    run = imwk(normalise(data().X, "range"), 4, 1.5)
    classes, labels = labels_in(out)
    assert labels == run.labels.tolist()
    assert set(classes) == {""}
    assert (list(found["weights"]), found["ari"]) == (["p1"], None)


def test_classes_give_the_number_of_clusters(table: Path) -> None:
    assert len(facts(table, "--label", "species")["sizes"]) == 3


def test_fixed_step_centres_differ(table: Path) -> None:
    exact, walked = (
        facts(table, "--label", "species", "--p1", 1.5, "--centre", centre)["weights"]["p1"]["a"]
        for centre in ("exact", "fixed-step")
    )
    assert exact != walked
    assert exact == pytest.approx(walked, abs=0.05)


def test_weights_and_scores_are_printed_as_tables(table: Path) -> None:
    result = run(table, "--label", "species", "--p1", 1.5, "--p2", 2)
    found = facts(table, "--label", "species", "--p1", 1.5, "--p2", 2)
    assert result.exit_code == 0
    assert "Weights that rescale the data, p1 = 1.5" in result.stdout
    assert "Weights of the clusters, p2 = 2" in result.stdout
    shown = [f"{weight:.3f}" for weight in found["weights"]["p2"]["f"]]
    assert ["f", *shown] in [line.split() for line in result.stdout.splitlines()]
    scores = f"silhouette {found['silhouette']:.4f}, adjusted Rand index {found['ari']:.4f}"
    assert scores in result.stdout


def test_many_features_are_cut_in_the_terminal_but_not_in_json(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = np.random.default_rng(1).normal(size=(9, 50))
    names = ",".join(f"v{column}" for column in range(50))
    path.write_text("\n".join([names, *(",".join(map(repr, row)) for row in rows.tolist())]))
    shown = run(path, "--k", 2).stdout
    assert "v39" in shown
    assert "v40" not in shown
    assert "10 more features are not shown. Print all with --json." in " ".join(shown.split())
    assert len(facts(path, "--k", 2)["weights"]["p1"]) == 50


def test_notices_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("size,same,rare\n" + "1,7,0\n2,7,0\n" * 4 + "3,7,1\n")
    result = run(path, "--k", 5, "--normalisation", "robust-z-score")
    assert "same" in result.stderr
    assert "Features without spread under robust-z-score are all zeros: rare." in result.stderr
    assert "clusters were found, not 5." in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Give k, or a table with a column of classes. See --k and --label."),
        (("--k", 101), "k must be at most 100, the number of entities, got 101"),
        (("--k", 3, "--p2", 0.5), "p2 must be a finite number of at least 1, got 0.5"),
        (("--k", 3, "--normalisation", "rnage"), "Did you mean 'range'?"),
        (("--label", "specie"), "species"),
        (("--k", 3, "-o", "labels.parquet"), "does not end in .csv"),
        (("--k", 3, "-o", "no/such/labels.csv"), "no/such is not a folder"),
    ],
)
def test_mistakes_are_named(table: Path, options: tuple[object, ...], words: str) -> None:
    assert words in refused(table, *options)


def test_the_table_is_not_overwritten(table: Path) -> None:
    before = table.read_bytes()
    assert "is the table itself" in refused(table, "--k", 3, "-o", table)
    assert table.read_bytes() == before


def test_labels_that_cannot_be_written_leave_no_file(table: Path) -> None:
    out = table.with_name("labels.csv")
    out.mkdir()
    assert f"Cannot write {out}" in refused(table, "--k", 3, "-o", out)
    assert sorted(path.name for path in table.parent.iterdir()) == ["labels.csv", "my.csv"]


def test_the_old_option_out_is_accepted_with_a_notice(table: Path) -> None:
    out = table.with_name("labels.csv")
    result = run(table, "--k", 3, "--out", out)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: --out is now --output. ")
    assert len(labels_in(out)[1]) == 100


def test_a_file_without_a_header_is_clustered(table: Path) -> None:
    named = facts(table, "--label", "species")
    table.write_text(table.read_text().partition("\n")[2])
    assert "header = false" in refused(table, "--k", 3)
    bare = facts(table, "--no-header", "--label", "x7")
    assert bare["ari"] == named["ari"]
    assert list(bare["weights"]["p1"]) == [f"x{number}" for number in range(1, 7)]


def test_no_header_is_for_files() -> None:
    spec = command("plan", "quick", "--no-header")
    assert_refused(spec, "--no-header is used with --data only", "header = false under")
    made = command("scatter", "1000x6-3", "-o", "a.png", "--no-header")
    assert_refused(made, "See --no-header.")
