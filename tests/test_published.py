"""The published values of the paper, read from the shared folder."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pipeline.core import adjusted_rand_index, imwk_many, kmeans, normalise, rescale
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset
from pipeline.seeds import seed_sequence
from tests.shared_data import REAL_DATA, published, read_real, read_rows

#: The paper's grid of exponents, and the seed chosen before any result was seen.
GRID = [round(1.1 + 0.1 * i, 1) for i in range(40)]
SEED = 2020

NORMALISATIONS = ["range", "z-score"]


def best_plain(shared: Path, data_set: str, normalisation: str) -> float:
    data = read_real(shared, REAL_DATA[data_set])
    runs = imwk_many(normalise(data.X, normalisation), data.classes, GRID, "fixed-step")
    return best_ari(data.y, (run.labels for run in runs))


def best_rescaled(shared: Path, data_set: str, normalisation: str) -> float:
    data = read_real(shared, REAL_DATA[data_set])
    X = normalise(data.X, normalisation)
    runs = imwk_many(X, data.classes, GRID, "fixed-step")
    rescaled = (rescale(X, run.labels, run.weights) for run in runs)
    again = (imwk_many(R, data.classes, GRID, "fixed-step") for R in rescaled)
    return best_ari(data.y, (run.labels for row in again for run in row))


def best_ari(truth: np.ndarray, labellings: Iterable[np.ndarray]) -> float:
    return float(np.max(adjusted_rand_index(truth, np.array(list(labellings)))))


BEST = {"imwk": best_plain, "rescaled-imwk": best_rescaled}
Place = tuple[str, str, str]
VALUES: list[Place] = list(product(REAL_DATA, NORMALISATIONS, BEST))

#: Values that differ: exact ties, which the authors' order of summation decides, on Car evaluation
#: and Tic-tac-toe; on Musk for an unknown reason.
OPEN: set[Place] = {
    ("Car evaluation", "range", "imwk"),
    ("Car evaluation", "range", "rescaled-imwk"),
    ("Car evaluation", "z-score", "rescaled-imwk"),
    ("Tic-tac-toe", "z-score", "imwk"),
    ("Musk", "range", "rescaled-imwk"),
    ("Musk", "z-score", "rescaled-imwk"),
}
AGREEING = [place for place in VALUES if place not in OPEN]

#: Plain imwk-means takes longer on these data sets than on all others together.
LONGEST = ("Australian CC", "Musk")
#: The others on rescaled data, 1,600 runs each, are left to `make reproduce`.
QUICK = [("Zoo", "range"), ("Lung cancer", "z-score")]


def mark_of(place: Place) -> pytest.MarkDecorator:
    data_set, normalisation, algorithm = place
    rescaled = algorithm == "rescaled-imwk"
    quick = (data_set, normalisation) in QUICK if rescaled else data_set not in LONGEST
    return pytest.mark.slow if quick else pytest.mark.reproduce


def test_at_least_66_of_72_values_on_real_data_must_agree() -> None:
    assert len(VALUES) == 72
    assert len(AGREEING) >= 66


@pytest.mark.parametrize(
    ("data_set", "normalisation", "algorithm"),
    [pytest.param(*place, marks=mark_of(place)) for place in AGREEING],
)
def test_values_on_real_data_agree(
    shared: Path, data_set: str, normalisation: str, algorithm: str
) -> None:
    found, expected = both(shared, data_set, normalisation, algorithm)
    assert found == pytest.approx(expected, abs=0.0015)


@pytest.mark.reproduce
@pytest.mark.parametrize(("data_set", "normalisation", "algorithm"), sorted(OPEN))
def test_other_values_are_not_far_off(
    shared: Path, data_set: str, normalisation: str, algorithm: str
) -> None:
    found, expected = both(shared, data_set, normalisation, algorithm)
    assert found == pytest.approx(expected, abs=0.1)


def both(shared: Path, data_set: str, normalisation: str, algorithm: str) -> tuple[float, float]:
    """Return a best ARI over the paper's grid and the published one, and print both."""
    found = BEST[algorithm](shared, data_set, normalisation)
    expected = published(shared, data_set, normalisation, algorithm)
    name = f"{algorithm.replace('-', ' ')}-means"
    print(f"{name}, {data_set}, {normalisation}: {found:.4f}, published {expected}")
    return found, expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", [c for c in CONFIGURATIONS if CONFIGURATIONS[c].noise in ("none", "within-cluster")]
)
def test_kmeans_plus_plus_on_synthetic_data(shared: Path, config: str) -> None:
    expected, expected_std = published_kmeans(shared, config)
    found = [expected_ari(config, index) for index in range(50)]
    standard_error = np.hypot(np.std(found, ddof=1), expected_std) / np.sqrt(50)
    difference = (np.mean(found) - expected) / standard_error
    print(f"k-means++, {config}: {np.mean(found):.4f}, published {expected}, {difference:+.2f} SE")
    assert abs(difference) <= 3


def published_kmeans(shared: Path, config: str) -> tuple[float, float]:
    for row in read_rows(shared / "paper" / "kmeans_plus_plus_synthetic.csv"):
        if (row["data"], row["normalisation"]) == (config, "range"):
            return float(row["ari_mean"]), float(row["ari_std"])
    raise LookupError(config)


def expected_ari(config: str, index: int) -> float:
    data = synthetic_dataset(config, index, SEED)
    X, k = normalise(data.X, "range"), CONFIGURATIONS[config].clusters
    runs = kmeans(X, k, 100, seed_sequence(SEED, "kmeans", config, index))
    return float(np.mean(adjusted_rand_index(data.y, runs.labels)))
