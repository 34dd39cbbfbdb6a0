"""The fixed-step centre is computed; the walk of the paper's authors is its reference."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from pipeline.core import (
    ConstantFeatureWarning,
    imwk,
    imwk_grid,
    minkowski_centre,
    normalise,
    rescale,
)
from pipeline.core.centres.dispatch import fixed_step_centres
from pipeline.core.centres.methods import CENTRES
from pipeline.core.centres.walk import walk_from_mean
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array
from tests import reference


@pytest.mark.parametrize("seed", range(30))
def test_fixed_step_centre_takes_the_same_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, p = rng.gamma(2.0, size=(int(rng.integers(2, 80)), 5)) / 8, float(rng.uniform(1.2, 5))
    found = minkowski_centre(X, p, "fixed-step")
    np.testing.assert_allclose(found, reference.fixed_step_centre(X, p), rtol=0, atol=1e-12)


#: Kinds of data: each returns (m, n) values.
KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Float64Array]] = {
    "normal": lambda rng, shape: 0.2 * rng.normal(size=shape),
    "wide": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: 0.3 * rng.exponential(size=shape),
    "heavy-tailed": lambda rng, shape: np.clip(0.1 * rng.standard_t(2, size=shape), -4, 4),
    "ties": lambda rng, shape: np.round(0.2 * rng.normal(size=shape), 1),
    "binary": lambda rng, shape: np.where(rng.random(shape) < 0.4, 0.6, -0.4),
    "rescaled": lambda rng, shape: (
        0.2 * rng.normal(size=shape) * 10.0 ** rng.integers(-5, 1, size=(shape[0], 1))
    ),
    "constant features": lambda rng, shape: (
        0.1 + 0.2 * rng.normal(size=shape) * (rng.random((shape[0], 1)) < 0.7)
    ),
}
#: Most members of a group, each as often as the others.
SIZES = (3, 30, 300, 1000)


def random_groups(rng: np.random.Generator, kind: str) -> tuple[Groups, Float64Array]:
    """Return up to 40 groups of 2 to 1,000 members, and their exponents, none of them 2."""
    counts = rng.integers(2, rng.choice(SIZES) + 1, size=rng.integers(1, 41))
    columns = KINDS[kind](rng, (int(rng.integers(1, 8)), int(counts.sum())))
    p = np.round(rng.uniform(1.1, 5.0, size=len(counts)), 1)
    return Groups(np.ascontiguousarray(columns), counts), np.where(p == 2, 2.1, p)


def assert_as_walked(groups: Groups, p: Float64Array) -> None:
    with zeros_have_powers():
        found, walked = fixed_step_centres(groups, p), walk_from_mean(groups, p)
    np.testing.assert_array_equal(found.centres, walked.centres)
    np.testing.assert_array_equal(found.dispersions, walked.dispersions)


@pytest.mark.parametrize("kind", KINDS)
def test_the_computed_centre_is_that_of_the_walk_bit_for_bit(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for _ in range(4):
        assert_as_walked(*random_groups(rng, kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_computed_centres_of_100_000_groups_are_those_of_the_walk(kind: str) -> None:
    rng, groups = np.random.default_rng(2026), 0
    while groups < 100_000 / len(KINDS):
        some = random_groups(rng, kind)
        assert_as_walked(*some)
        groups += len(some[1])


@pytest.mark.parametrize("far", [0.2, 0.5, 3.0])
def test_features_that_end_early_walk_on_with_the_slowest(far: float) -> None:
    # The centre of the first feature is so far from its mean that the steps of the others become
    # too short for rounding to tell them apart.
    rng = np.random.default_rng(4)
    columns = 0.1 * rng.normal(size=(4, 60))
    columns[0, :3] += 2 * far
    columns[3, 30:] = -columns[3, :30]
    assert_as_walked(Groups(columns, np.array([20, 40])), np.array([4.5, 1.3]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_wide_features_and_float32_are_walked(dtype: str) -> None:
    rng = np.random.default_rng(5)
    columns = (rng.normal(size=(2, 50)) * [[0.2], [4.0]]).astype(dtype)
    assert_as_walked(Groups(columns, np.array([20, 30])), np.array([3.5, 1.2]))


@pytest.mark.slow
@pytest.mark.parametrize("normalisation", ["range", "z-score"])
def test_real_data_give_the_results_of_the_walk(
    shared: Path, normalisation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sorted((shared / "uci18").glob("*.csv"))
    assert len(files) == 18
    for file in files:
        table = np.genfromtxt(file, delimiter=",", skip_header=1, dtype=str)
        X, k = table[:, :-1].astype(np.float64), len(np.unique(table[:, -1]))
        with catch_warnings():
            simplefilter("ignore", ConstantFeatureWarning)
            X = normalise(X, normalisation)
        first = imwk(X, k, 1.5, "fixed-step")
        Xs = [X, rescale(X, first.labels, first.weights)]
        computed = imwk_grid(Xs, k, [1.1, 1.7, 2.6, 4.4], "fixed-step")
        with monkeypatch.context() as patch:
            patch.setitem(CENTRES, "fixed-step", walk_from_mean)
            walked = imwk_grid(Xs, k, [1.1, 1.7, 2.6, 4.4], "fixed-step")
        for ours, theirs in zip(chain(*computed), chain(*walked), strict=True):
            np.testing.assert_array_equal(ours.labels, theirs.labels, file.stem)
            np.testing.assert_array_equal(ours.centroids, theirs.centroids, file.stem)
            np.testing.assert_array_equal(ours.weights, theirs.weights, file.stem)
