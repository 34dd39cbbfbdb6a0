"""Benchmark batteries in the format of the field: all 223 sets of the usual ones, made up."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SIZES = [f"{m}_{spread}" for m in (1, 2, 4, 8, 16, 32, 64, 128) for spread in range(10, 100, 10)]
#: The number of data sets of each battery; 223 in all.
BATTERIES = {
    "fcps": [f"f{number}" for number in range(9)],
    "graves": [f"ring_noisy{number}" for number in range(10)],
    "mnist": ["digits", "fashion"],
    "other": [f"o.{number}" for number in range(8)],
    "sipu": [f"a{number}" for number in range(20)],
    "uci": [f"u-{number}" for number in range(8)],
    "wut": [f"x{number}" for number in range(22)],
    "g2mg": [f"g2mg_{size}" for size in _SIZES],
    "h2mg": [f"h2mg_{size}" for size in _SIZES],
}


def packed(text: str) -> bytes:
    """Return a text packed by gzip, the same bytes every time."""
    return gzip.compress(text.encode(), mtime=0)


def matrix_text(X: NDArray[np.float64], spaces: str = " ", comment: str = "") -> str:
    """Return a matrix as text, in full precision."""
    return comment + "".join(f"{spaces.join(map(repr, row))}\n" for row in X.tolist())


def write_set(folder: Path, name: str, X: NDArray[np.float64], *labels: NDArray[np.int64]) -> Path:
    """Write a matrix and its labellings, and return the file of the matrix."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(labels):
        text = "".join(f"{label}\n" for label in each.tolist())
        (folder / f"{name}.labels{number}.gz").write_bytes(packed(text))
    (folder / f"{name}.data.gz").write_bytes(packed(matrix_text(X)))
    return folder / f"{name}.data.gz"


def made_up(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return a small data set with two labellings, the second with noise points."""
    rng = np.random.default_rng(seed)
    n, m, k = 20 + seed % 17, 1 + seed % 6, 2 + seed % 4
    first = np.arange(n) % k + 1
    second = np.where(np.arange(n) % 7 == 3, 0, np.arange(n) % 2 + 1)
    return rng.normal(size=(n, m)) + first[:, np.newaxis], first, second


def write_batteries(folder: Path) -> Iterator[tuple[str, int]]:
    """Write all 223 data sets, and yield the name and the seed of each."""
    names = [f"{battery}/{name}" for battery, sets in BATTERIES.items() for name in sets]
    for seed, name in enumerate(names):
        battery, _, each = name.partition("/")
        write_set(folder / battery, each, *made_up(seed))
        yield name, seed
