"""Small data sets from hypothesis, with the difficulties of real tables."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from pipeline.core.types import Float64Array, IntArray


@dataclass(frozen=True)
class Case:
    """A data set and the parameters of one run."""

    X: Float64Array
    k: int
    p: float


#: Scales of features: mostly normal, some tiny, some huge; and a scale that suits steps of 0.001.
HARD = (1.0, 1.0, 1.0, 1e-3, 1e12)
WALKABLE = (0.1,)

#: Exponents where rules change or arithmetic is difficult, and all values between them.
exponents = st.one_of(st.sampled_from([2.0, 1.5, 3.0, 1.1, 5.0, 1.0001, 1.0]), st.floats(1.02, 5.0))


@st.composite
def tables(draw: st.DrawFn, scales: tuple[float, ...] = HARD) -> Float64Array:
    """Draw 2 to 60 rows and 1 to 8 columns, with duplicates, constants and huge scales."""
    n, m = draw(st.integers(2, 60)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, m)) + 3 * rng.normal(size=(4, m))[rng.integers(0, 4, size=n)]
    if draw(st.sampled_from([False, False, False, True])):  # a lattice: full of exact ties
        X = np.round(X)
    copies = draw(st.integers(0, n // 2))
    X[rng.choice(n, size=copies)] = X[rng.choice(n, size=copies)]
    for column in draw(st.sets(st.integers(0, m - 1), max_size=2)):
        X[:, column] = 0.1
    return np.asarray(X * draw(st.lists(st.sampled_from(scales), min_size=m, max_size=m)))


@st.composite
def cases(draw: st.DrawFn, scales: tuple[float, ...] = HARD) -> Case:
    """Draw a table with a number of clusters and an exponent."""
    X = draw(tables(scales))
    return Case(X, draw(st.integers(1, len(X))), draw(exponents))


@st.composite
def labelled_tables(
    draw: st.DrawFn, scales: tuple[float, ...] = (1.0, 0.5)
) -> tuple[Float64Array, IntArray]:
    """Draw a table, and labellings with gaps, empty clusters and singletons."""
    X = draw(tables(scales))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    r, k = draw(st.integers(1, 6)), draw(st.integers(1, len(X)))
    labels = rng.integers(0, k, size=(r, len(X)))
    labels[0] = np.arange(len(X)) if draw(st.booleans()) else labels[0]
    return X, labels * draw(st.sampled_from([1, 1, 7, 1000]))


@st.composite
def labellings(draw: st.DrawFn) -> tuple[IntArray, IntArray]:
    """Draw classes, and labellings from independent to equal, with gaps and singletons."""
    n, r = draw(st.integers(1, 80)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, draw(st.integers(1, n)), size=n)
    noise = rng.integers(0, draw(st.integers(1, 2 * n)), size=(r, n))
    labels = np.where(rng.random((r, n)) < rng.random((r, 1)), truth, noise)
    labels[0] = draw(st.sampled_from([labels[0], truth, np.arange(n), np.zeros(n, dtype=int)]))
    return truth, labels * draw(st.sampled_from([1, 1, 7, 1000]))
