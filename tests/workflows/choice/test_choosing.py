"""What rules pick from kept labels, against picks by hand from `storage.labels`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

import storage
from pipeline.core import (
    calinski_harabasz,
    central_scores,
    consensus_labels,
    info_score,
    normalise,
    silhouette,
)
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import Table
from pipeline.spec.sweep import Sweep
from storage import CubeError, create_cube
from storage.tiles import mark_missing
from tests.own_tables import small_table
from tests.storage.made_up import small_spec
from workflows import submit
from workflows.choice import Candidate, choose
from workflows.choice.advice import advice_on
from workflows.choice.choosing import RULES, all_candidates
from workflows.choice.flags import score_flags
from workflows.errors import ArgumentError

NORMALISATIONS = ("z-score", "range")
KEYS: dict[str, Any] = {
    "normalisations": NORMALISATIONS,
    "restarts": 4,
    "p1": [1.3, 2, 3, 4],
    "p2": [1.5, 2, 3],
}


def noisy(*, labelled: bool = True) -> Table:
    """Return data in which rules pick different runs."""
    table = small_table(3, labelled=labelled, rows=60)
    table.X[:, :2] += np.random.default_rng(1).normal(0, 0.4, (60, 2))
    return table


def swept(location: Path, table: Table, **changes: Any) -> Path:
    k = None if table.classes is not None else 3
    submit(Sweep.of({"mine": table}, k=k, **{**KEYS, **changes}), location, workers=0)
    return location


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return swept(tmp_path_factory.mktemp("choice") / "cube.zarr", noisy())


def kept(cube: Path, normalisation: str) -> tuple[list[Candidate], IntArray]:
    """Return the candidates of a normalisation and their labels, in the order of the docs."""
    where: dict[str, Any] = {"normalisation": normalisation, "dataset": 0}
    plain = storage.labels(cube, part="imwk", **where)
    rescaled = storage.labels(cube, **where)
    kmeans = storage.labels(cube, part="kmeans", **where)
    places = [
        *(Candidate("imwk", normalisation, p1) for p1 in KEYS["p1"]),
        *(
            Candidate("rescaled_imwk", normalisation, p1, p2)
            for p1 in KEYS["p1"]
            for p2 in KEYS["p2"]
        ),
        Candidate("kmeans", normalisation),
    ]
    rows = [plain.values, rescaled.values.reshape(-1, 60), kmeans.values[np.newaxis]]
    return places, np.concatenate(rows)


def rated(rule: str, normalisation: str, labels: IntArray) -> Float64Array:
    """Return a score of labellings of the noisy data."""
    X = noisy().X
    if rule == "central":  # k-means++, the last one, is no reference
        return central_scores(labels[:-1], guests=labels[-1:])
    if rule == "info":
        return np.asarray(info_score(X, labels))
    score = silhouette if rule == "silhouette" else calinski_harabasz
    return np.asarray(score(normalise(X, normalisation), labels))


def by_hand(cube: Path, rule: str) -> tuple[Candidate, float]:
    """Return the first candidate with the highest score."""
    tiles = {name: kept(cube, name) for name in NORMALISATIONS}
    places = [place for some, _ in tiles.values() for place in some]
    scores = np.concatenate([rated(rule, name, rows) for name, (_, rows) in tiles.items()])
    best = int(np.nanargmax(scores))
    return places[best], float(scores[best])


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_picks_the_first_of_the_best(cube: Path, rule: str) -> None:
    (found,) = choose(cube)
    pick = found.by(rule)
    assert pick is not None
    assert (pick.candidate, pick.score) == by_hand(cube, rule)


def test_scores_that_the_cube_lacks_are_computed_with_the_same_bits(
    cube: Path, tmp_path: Path
) -> None:
    other = swept(tmp_path / "other.zarr", noisy(), scores=[])
    (stored,), (computed,) = choose(cube), choose(other)
    assert [(p.candidate, p.score, p.ari) for p in stored.shown] == [
        (p.candidate, p.score, p.ari) for p in computed.shown
    ]


def test_a_pick_has_the_labels_the_clusters_and_the_ari_of_its_run(cube: Path) -> None:
    (found,) = choose(cube)
    for pick in found.shown:
        assert pick.candidate is not None
        places, labels = kept(cube, pick.candidate.normalisation)
        run = labels[places.index(pick.candidate)]
        assert np.array_equal(pick.labels, run)
        assert pick.clusters == len(set(run.tolist()))
        assert pick.ari == pytest.approx(adjusted_rand_score(noisy().classes, run))


def test_the_baseline_is_the_kmeans_run_that_info_prefers(cube: Path) -> None:
    (found,) = choose(cube)
    runs = {name: kept(cube, name)[1][-1] for name in NORMALISATIONS}
    scores = {name: float(info_score(noisy().X, run)) for name, run in runs.items()}
    best = max(scores, key=lambda name: scores[name])
    assert found.baseline is not None
    assert found.baseline.candidate == Candidate("kmeans", best)
    info = found.by("info")
    assert info is not None
    assert found.gain == info.score - scores[best]


def test_agreement_is_the_ari_between_picks(cube: Path) -> None:
    (found,) = choose(cube)
    expected = [
        [adjusted_rand_score(one.labels, other.labels) for other in found.shown]
        for one in found.shown
    ]
    assert np.allclose(found.agreement, expected)


def flags_of(cube: Path, best: list[Candidate]) -> list[str]:
    """Return the flags of the first of some candidates that have the best score together."""
    (candidates,) = all_candidates(cube)
    places = [candidates.all.index(each) for each in best]
    scores = np.zeros(len(candidates.all))
    scores[places] = 1
    return list(score_flags(candidates, places[0], scores))


EDGE = Candidate("rescaled_imwk", "range", 1.3, 2)
INSIDE = Candidate("rescaled_imwk", "z-score", 2, 2)


@pytest.mark.parametrize(
    ("best", "flags"),
    [
        ([INSIDE], []),
        ([EDGE], ["on the edge of the grid"]),
        ([Candidate("rescaled_imwk", "range", 2, 3)], ["on the edge of the grid"]),
        ([Candidate("imwk", "range", 4)], ["on the edge of the grid"]),
        ([Candidate("kmeans", "range")], []),
        ([EDGE, INSIDE], ["2 runs tie"]),
        ([EDGE, Candidate("imwk", "range", 4)], ["on the edge of the grid", "2 runs tie"]),
        # k-means++ has no place on the grid, so it says nothing about the edge
        ([EDGE, Candidate("kmeans", "range")], ["on the edge of the grid", "2 runs tie"]),
    ],
)
def test_a_pick_is_on_the_edge_only_if_all_that_tie_are(
    cube: Path, best: list[Candidate], flags: list[str]
) -> None:
    assert flags_of(cube, best) == flags


def test_two_exponents_have_no_edge(tmp_path: Path) -> None:
    cube = swept(tmp_path / "cube.zarr", noisy(), p1=[1.3, 2], p2=[1.5, 2])
    assert flags_of(cube, [EDGE]) == []


def test_flags_tell_of_clusters_and_the_baseline(tmp_path: Path) -> None:
    # Three different rows, so that nothing finds four clusters, and all find the same three
    rows = np.repeat([[0.0, 0, 1], [5, 1, 0], [9, 7, 3]], 5, axis=0)
    table = Table(rows, ("a", "b", "c"))
    cube = tmp_path / "cube.zarr"
    submit(Sweep.of({"mine": table}, k=4, **{**KEYS, "restarts": 20}), cube, workers=0)
    (found,) = choose(cube)
    assert found.baseline is not None
    assert "3 clusters, not 4" in found.baseline.flags
    assert "equals the baseline" not in found.baseline.flags
    for pick in found.picks:
        assert {"3 clusters, not 4", "equals the baseline"} <= set(pick.flags)
    assert advice_on(found).sentence.endswith("It has 3 clusters, not 4.")


def test_below_three_features_the_silhouette_is_the_default(tmp_path: Path) -> None:
    table = noisy(labelled=False)
    flat = Table(table.X[:, :2], ("a", "b"))
    (found,) = choose(swept(tmp_path / "cube.zarr", flat), ensemble=True)
    assert found.default == "silhouette"
    assert [pick.rule for pick in found.picks] == list(RULES)  # no ensemble by info
    assert found.no_ensemble == "it needs 3 features, and there are 2"
    assert {pick.ari for pick in found.shown} == {None}
    silhouettes = {
        name: float(silhouette(normalise(flat.X, name), kept(tmp_path / "cube.zarr", name)[1][-1]))
        for name in NORMALISATIONS
    }
    assert found.baseline is not None
    assert found.baseline.score == max(silhouettes.values())


def test_an_ensemble_is_the_best_of_its_sizes_by_info(cube: Path) -> None:
    (found,) = choose(cube, ensemble=True)
    pick = found.by("ensemble")
    assert pick is not None
    assert pick.candidate is None
    every = np.concatenate([kept(cube, name)[1] for name in NORMALISATIONS])
    X = noisy().X
    order = np.argsort(-np.asarray(info_score(X, every)), kind="stable")
    made = {size: consensus_labels(every[order[:size]], 3) for size in (5, 10, 20)}
    scores = {size: float(info_score(X, labels)) for size, labels in made.items()}
    assert len(set(scores.values())) > 1  # otherwise every size would do
    best = max(scores, key=lambda size: scores[size])
    assert pick.score == scores[best]
    assert np.array_equal(pick.labels, made[best])


def test_without_an_ensemble_the_reason_is_told(tmp_path: Path) -> None:
    few = swept(tmp_path / "few.zarr", noisy(), normalisations=["range"], p1=[2], p2=[2])
    (found,) = choose(few, ensemble=True)
    assert found.by("ensemble") is None
    assert found.no_ensemble == "it needs 5 runs, and there are 3"
    (plain,) = choose(few)
    assert plain.no_ensemble is None


def test_a_few_labels_pick_the_run_that_fits_them_best(cube: Path, tmp_path: Path) -> None:
    table, rows = noisy(), [0, 1, 2, 13, 20, 41]
    assert table.classes is not None
    lines = [f"{row + 1},{table.class_names[table.classes[row]]}" for row in rows]
    (tmp_path / "some.csv").write_text("\n".join(["row,class", *lines]))
    (found,) = choose(cube, labels=tmp_path / "some.csv")
    pick = found.by("by your labels")
    assert pick is not None
    every = np.concatenate([kept(cube, name)[1] for name in NORMALISATIONS])
    scores = np.array([adjusted_rand_score(table.classes[rows], run[rows]) for run in every])
    assert pick.score == pytest.approx(scores.max())
    tied = np.isclose(scores, scores.max())
    assert info_score(table.X, pick.labels) == np.max(info_score(table.X, every[tied]))
    assert advice_on(found).take == "by your labels"
    assert "on the 6 rows" in advice_on(found).sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,a\n61,b\n", "line 2: '61' is not a row"),
        ("row,class\n1,a\nx,b\n", "line 3: 'x' is not a row"),
        ("1,a\n0,b\n", "'0' is not a row of the data"),
        ("1,a\n1,b\n", "has row 1 twice"),
        ("1,a\n2,a\n", "has fewer than two classes"),
        ("", "has fewer than two classes"),
        ("1st,a\n2,b\n3,a\n", "line 1: '1st' is not a row"),
        ("-1,a\n2,b\n3,a\n", "line 1: '-1' is not a row"),
        ("1,a\n2\n", "line 2, has no class"),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    cube: Path, tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "some.csv").write_text(text)
    with pytest.raises(ArgumentError, match=words):
        choose(cube, labels=tmp_path / "some.csv")


def test_labels_that_cannot_be_read_are_refused(cube: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be read"):
        choose(cube, labels=tmp_path / "none.csv")


def test_tiles_that_are_not_done_do_not_compete(tmp_path: Path) -> None:
    cube = swept(tmp_path / "cube.zarr", noisy())
    tiles = storage.read_spec(cube).tiles
    mark_missing(cube, tiles[:1])
    (found,) = choose(cube)
    left = {pick.candidate.normalisation for pick in found.shown if pick.candidate is not None}
    assert left == {tiles[1].normalisation}
    mark_missing(cube, tiles)
    with pytest.raises(ArgumentError, match="No tile is done yet"):
        choose(cube)


def test_a_sweep_without_kmeans_has_no_baseline(tmp_path: Path) -> None:
    (found,) = choose(swept(tmp_path / "cube.zarr", noisy(), restarts=0))
    assert (found.baseline, found.gain) == (None, None)
    assert advice_on(found).take == "info"


def test_synthetic_data_can_be_chosen_for_if_their_labels_are_kept(tmp_path: Path) -> None:
    spec = small_spec(keep=["labels"])
    submit(spec, tmp_path / "cube.zarr", workers=0)
    every = choose(tmp_path / "cube.zarr")
    assert [(each.config, each.dataset) for each in every] == [
        (config, number) for config in spec.configs for number in range(spec.dataset_count(config))
    ]
    one = choose(tmp_path / "cube.zarr", spec.configs[0], 0)
    assert [each.dataset for each in one] == [0]


def test_a_cube_without_labels_is_refused_with_the_remedy(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    with pytest.raises(CubeError, match=r'no labels.*new cube, with keep = \["labels"'):
        choose(tmp_path / "cube.zarr")


@pytest.mark.slow
def test_breast_cancer_without_labels_is_clustered_well_or_left_to_kmeans(tmp_path: Path) -> None:
    data = load_breast_cancer()
    grid = [1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 4.4, 4.8]
    table = Table(data.data, tuple(map(str, data.feature_names)))
    submit(Sweep.of({"breast": table}, k=2, p1=grid, p2=grid), tmp_path / "cube.zarr", workers=0)
    (found,) = choose(tmp_path / "cube.zarr")
    advice = advice_on(found)
    taken = next(pick for pick in found.shown if pick.rule == advice.take)
    assert adjusted_rand_score(data.target, taken.labels) >= 0.65 or advice.take == "k-means++"
