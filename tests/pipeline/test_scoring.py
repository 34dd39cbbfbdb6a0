"""Scores of a sweep: every labelling of a block is scored, independently of the others."""

from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence
from sklearn.metrics import (
    adjusted_mutual_info_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    normalized_mutual_info_score,
    silhouette_score,
)

from pipeline.core import imwk, info_score, kmeans_many, normalise, rescale, silhouette
from pipeline.core.labellings import MOST_ROWS
from pipeline.core.types import FloatArray, IntArray
from pipeline.datasets import synthetic_dataset
from pipeline.errors import SpecError
from pipeline.execution.block import BlockResult, run_block, run_tile
from pipeline.score_facts import DEFAULT_SCORES, SCORE_FACTS, SCORES, TILE_SCORES, suffix
from pipeline.scoring import Scorer
from pipeline.seeds import seed_sequence
from pipeline.spec import SweepSpec
from pipeline.spec.blocks import split_block
from pipeline.spec.sweep import Sweep
from pipeline.spec.toml import parse_spec_file
from tests.own_tables import small_table
from tests.pipeline.specs import small

SPEC = small(scores=SCORES)
TILE = SPEC.tiles[0]


@pytest.fixture(scope="module")
def whole() -> BlockResult:
    """Return a tile with all scores of every labelling."""
    return run_tile(SPEC, TILE)


DATA = synthetic_dataset("1000x6-3", 0, seed=2020)


def assert_scores(arrays: Any, part: str, place: Any, X: FloatArray, labels: IntArray) -> None:
    expected = {
        "silhouette": silhouette_score(X, labels),
        "calinski-harabasz": calinski_harabasz_score(X, labels),
        "info": info_score(DATA.X, labels),
        "davies-bouldin": davies_bouldin_score(X, labels),
        "ami": adjusted_mutual_info_score(DATA.y, labels),
        "nmi": normalized_mutual_info_score(DATA.y, labels),
    }
    found = {name: arrays[f"{part}_{suffix(name)}"][place] for name in SCORES}
    assert found == pytest.approx(expected, abs=1e-9)


def test_every_labelling_of_a_tile_is_scored_on_the_right_data(whole: BlockResult) -> None:
    X = normalise(DATA.X, "range")
    (alone,) = kmeans_many([X], 3, 3, [seed_sequence(2020, "kmeans", "1000x6-3", 0, "range")])
    assert_scores(whole.arrays, "kmeans", 2, X, alone.labels[2])
    for row, p1 in enumerate(SPEC.p1):
        run = imwk(X, 3, p1)
        assert_scores(whole.arrays, "imwk", row, X, run.labels)
        rescaled = rescale(X, run.labels, run.weights)
        seed = seed_sequence(2020, "kmeans", "1000x6-3", 0, "range", repr(p1))
        (restarts,) = kmeans_many([rescaled], 3, 3, [seed])
        assert_scores(whole.arrays, "rescaled_kmeans", (row, 1), X, restarts.labels[1])
        for column, p2 in enumerate(SPEC.p2):
            again = imwk(rescaled, 3, p2)
            assert_scores(whole.arrays, "rescaled_imwk", (row, column), X, again.labels)


def test_scores_have_the_dimensions_of_aris(whole: BlockResult) -> None:
    for part in SPEC.parts:
        for name in SCORES:
            shape = whole.arrays[f"{part}_ari"].shape
            assert whole.arrays[f"{part}_{suffix(name)}"].shape == shape


def test_neither_blocks_nor_other_scores_change_a_bit(whole: BlockResult) -> None:
    some = SPEC.model_copy(update={"scores": tuple(set(SCORES) - {"calinski-harabasz"})})
    for row, block in enumerate(split_block(whole.block, 1)):
        computed = run_block(some, block).arrays
        assert not any("calinski" in name for name in computed)
        for name in (name for name in computed if name.startswith("rescaled")):
            np.testing.assert_array_equal(computed[name][0], whole.arrays[name][row])


def test_a_sweep_without_scores_computes_none() -> None:
    names = run_tile(small(), TILE).arrays
    assert not any(name.endswith(suffix(score)) for name in names for score in SCORES)


def own(rows: int, labelled: bool, **keys: Any) -> Sweep:
    table = small_table(labelled=labelled, rows=rows)
    return Sweep.of({"mine": table}, 3, p1=[1.5, 2.0], p2=[2.0], restarts=2, **keys)


def tile_of(sweep: Sweep, number: int = 0) -> Any:
    (table,) = sweep.tables.values()
    return run_tile(sweep.spec, sweep.spec.tiles[number], table).arrays


def test_without_classes_everything_that_needs_none_is_the_same() -> None:
    with_classes, without = (
        tile_of(own(60, labelled, scores=SCORES)) for labelled in (True, False)
    )
    names = [f"{part}_{score}" for part in SPEC.parts for score in ("ari", "ami", "nmi")]
    assert with_classes.keys() - without.keys() == set(names)
    for name, values in without.items():
        np.testing.assert_array_equal(values, with_classes[name])


def test_the_same_rows_are_sampled_under_all_normalisations() -> None:
    sweep = own(MOST_ROWS + 100, True, parts=["imwk"], normalisations=["range", "z-score"])
    (table,) = sweep.tables.values()
    for number, tile in enumerate(sweep.spec.tiles):
        X = normalise(table.X, tile.normalisation)
        labels = [imwk(X, 3, p1).labels for p1 in (1.5, 2.0)]
        expected = silhouette(X, labels, seed_sequence(2020, "silhouette", "mine", 0))
        found = tile_of(sweep, number)
        np.testing.assert_array_equal(found["imwk_silhouette"], expected)
        informed = info_score(table.X, labels, seed_sequence(2020, "silhouette", "mine", 0))
        np.testing.assert_array_equal(found["imwk_info"], informed)


def test_labellings_can_be_scored_together_or_alone() -> None:
    rng = np.random.default_rng(1)
    X, classes, labels = (
        rng.normal(size=(90, 4)),
        rng.integers(0, 3, 90),
        rng.integers(0, 5, (40, 90)),
    )
    scorer = Scorer(normalise(X, "z-score"), X, classes, SCORES, SeedSequence(1))
    together = scorer.score(labels)
    assert set(together) == {"ari", *map(suffix, SCORES)}
    for row in range(len(labels)):
        for name, (value,) in scorer.score(labels[[row]]).items():
            assert value == together[name][row]


def test_a_single_cluster_gets_the_worst_score() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    scorer = Scorer(X, X, np.array([0, 0, 1]), SCORES, SeedSequence(1))
    scored = scorer.score(np.zeros((1, 3), dtype=np.int64))
    assert {name: values.tolist() for name, values in scored.items()} == {
        "ari": [0.0],
        "silhouette": [-1.0],
        "calinski_harabasz": [0.0],
        "info": [0.0],
        "davies_bouldin": [np.inf],
        "ami": [0.0],
        "nmi": [0.0],
    }


def test_the_worst_value_is_at_the_end_of_the_range() -> None:
    assert SCORE_FACTS["davies-bouldin"].worst == np.inf
    assert SCORE_FACTS["info"].worst == -np.inf
    assert SCORE_FACTS["silhouette"].worst == -1
    assert {name for name, facts in SCORE_FACTS.items() if facts.needs_classes} == {
        "ari",
        "ami",
        "nmi",
    }


def test_scores_are_computed_by_default_for_tables_only() -> None:
    assert small().scores == ()
    assert own(9, True).spec.scores == own(9, False).spec.scores == DEFAULT_SCORES
    assert small(scores=SCORES).fingerprint != small().fingerprint


def test_the_ari_may_be_named_and_is_always_computed() -> None:
    assert small(scores=["ari", "ami"]) == small(scores=["ami"])
    assert small(scores=["ari"]).fingerprint == small().fingerprint


def test_empty_scores_are_written_for_tables_but_not_for_synthetic_data() -> None:
    off = own(9, True, scores=[]).spec
    assert off.scores == ()
    assert "scores" not in small().model_dump(mode="json")
    for spec in (off, own(9, True).spec, small(scores=["silhouette"])):
        copy = parse_spec_file(spec.to_toml(), "sweep.toml").sweep.spec
        assert copy == spec
        assert copy.fingerprint == SweepSpec(**spec.model_dump(mode="json")).fingerprint


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "mine has no labels, so its clusters can only be rated by scores that need none"),
        (["ami", "nmi"], "Give at least one: silhouette, calinski-harabasz, info, davies-bouldin"),
        (["info", *TILE_SCORES], "central compares all labellings of a tile with each other"),
        ([["silhouette"]], "Unknown score"),
        (["silhouettes"], "Did you mean 'silhouette'?"),
        (["silhouette", "silhouette"], "give each score once"),
        ("silhouette", "give a list of scores"),
    ],
)
def test_invalid_scores_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        own(9, False, scores=scores)


def test_a_wrong_key_gives_no_second_error_about_the_scores() -> None:
    with pytest.raises(SpecError) as caught:
        small(seed=-1)
    (problem,) = caught.value.problems
    assert str(problem).startswith("seed = -1")
