"""Noise points are clustered, but every comparison with classes leaves them out."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)

from pipeline.core.agreement import NO_CLASS
from pipeline.datasets import Table
from pipeline.execution.block import run_tile
from pipeline.execution.pilots import _some_rows
from pipeline.spec.sources import TableFacts
from pipeline.spec.sweep import Sweep
from storage import labels, open_cube, stored_table
from tests.own_tables import noisy_table, small_table
from tests.workflows.commands import imwk, output_of
from workflows import submit
from workflows.clustering import cluster_table
from workflows.plots.scatter import draw_clustering
from workflows.recompute import recompute

ORACLES = {
    "ari": adjusted_rand_score,
    "ami": adjusted_mutual_info_score,
    "nmi": normalized_mutual_info_score,
}
TABLE = noisy_table()
assert TABLE.classes is not None
COUNTS = TABLE.classes != NO_CLASS


def oracle(score: str, labelling: NDArray[Any]) -> float:
    """Return scikit-learn's score on the rows that count."""
    assert TABLE.classes is not None
    return float(ORACLES[score](TABLE.classes[COUNTS], labelling[COUNTS]))


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("noise") / "noise.zarr"
    keys: dict[str, Any] = {"normalisations": ["range"], "p1": [1.5, 2.0, 4.0], "p2": [2.0, 3.0]}
    submit(
        Sweep.of({"mine": TABLE}, restarts=3, scores=["info", "ami"], **keys), location, workers=0
    )
    return location


def assert_agrees(location: Path, score: str) -> None:
    found = open_cube(location)[f"rescaled_imwk_{score}"].squeeze()
    kept = labels(location, config="mine", dataset=0, part="rescaled_imwk").squeeze()
    for p1 in found["p1"].values:
        for p2 in found["p2"].values:
            at = {"p1": p1, "p2": p2}
            expected = oracle(score, kept.sel(at).values)
            assert float(found.sel(at)) == pytest.approx(expected, abs=1e-12)


def test_k_is_the_number_of_classes_without_noise() -> None:
    assert TABLE.class_count == 3
    assert TableFacts.of(TABLE).k == 3


def test_a_sweep_compares_the_rows_that_count(cube: Path) -> None:
    assert_agrees(cube, "ari")
    assert_agrees(cube, "ami")
    whole = adjusted_rand_score(TABLE.classes, cluster_table(TABLE, None, 2.0).labels)
    assert cluster_table(TABLE, None, 2.0).ari != pytest.approx(whole)


def test_the_cube_has_the_noise_points_and_can_be_reproduced(cube: Path) -> None:
    np.testing.assert_array_equal(stored_table(cube, "mine").classes, TABLE.classes)
    assert recompute(cube, 1).share == 1


def test_a_score_that_is_added_later_compares_the_same_rows(cube: Path) -> None:
    assert output_of("score", cube, "--add", "nmi") == "added: nmi\n"
    assert_agrees(cube, "nmi")


def test_choices_have_the_ari_of_the_rows_that_count(cube: Path) -> None:
    (facts,) = json.loads(output_of("choose", cube, "--json", "--ensemble"))["datasets"]
    found = json.loads(output_of("cluster", cube, "--by", "ari", "--json"))
    best = float(open_cube(cube)["rescaled_imwk_ari"].max())
    assert found["ari"] >= best
    assert max(pick["ari"] for pick in facts["picks"]) <= found["ari"]


def test_labels_of_all_rows_are_written_and_noise_has_no_class(cube: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    facts = json.loads(output_of("cluster", cube, "--by", "ari", "-o", file, "--json"))
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["class"] == "" for row in rows] == (~COUNTS).tolist()
    assert all(row["cluster"] for row in rows)
    clusters = np.array([int(row["cluster"]) for row in rows])
    assert facts["ari"] == pytest.approx(oracle("ari", clusters), abs=1e-12)


def test_the_best_of_a_query_is_the_best_of_the_rows_that_count(cube: Path) -> None:
    result = imwk("query", cube, "--variable", "rescaled_imwk_ari", "--best")
    assert result.exit_code == 0
    assert f"{float(open_cube(cube)['rescaled_imwk_ari'].max()):.3f}" in result.output


def test_noise_points_are_drawn_as_a_group_of_their_own() -> None:
    figure = draw_clustering(cluster_table(TABLE, None, 2.0), "Noisy")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["p", "q", "r", "noise"]
    points = [len(np.asarray(each.get_offsets())) for each in figure.axes[0].collections]
    assert sum(points) == len(TABLE.X)
    assert points[-1] == (~COUNTS).sum()


def test_a_pilot_may_see_noise_points_only() -> None:
    some = _some_rows(TABLE, 8)
    assert some.classes is not None
    assert (some.classes == NO_CLASS).all()
    sweep = Sweep.of({"mine": some}, 2, scores=["ami", "nmi"], p1=[2.0], p2=[2.0], restarts=1)
    found = run_tile(sweep.spec, sweep.spec.tiles[0], some).arrays
    assert all(np.isfinite(values).all() for name, values in found.items() if "_a" in name)


def test_the_hash_of_tables_without_noise_has_not_changed() -> None:
    """Computed here as `Table.sha256` documents it."""
    for table in (small_table(), noisy_table()):
        assert table.classes is not None
        content = b"40 3 labelled\n" + table.X.astype("<f8").tobytes()
        digest = hashlib.sha256(content + table.classes.astype("<i8").tobytes())
        assert table.sha256 == digest.hexdigest()
    assert small_table().sha256 != noisy_table().sha256
    unlabelled = Table(TABLE.X, TABLE.features)
    assert unlabelled.sha256 != TABLE.sha256
