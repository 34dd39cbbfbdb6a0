"""Labels found by an independent program, read from the shared folder."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.core import adjusted_rand_index, imwk
from pipeline.core import normalise as normalise_by_present_rules
from pipeline.core.types import Float64Array
from tests.shared_data import read_real, read_rows

#: Data sets on a lattice: exact ties, decided by rounding, may go either way.
LATTICES = {"balance", "car", "tictactoe"}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "centre", ["exact", pytest.param("fixed-step", marks=pytest.mark.reproduce)]
)
def test_partitions_of_the_independent_program(shared: Path, centre: str) -> None:
    different = [name for name, same in compared(shared, centre) if not same]
    runs = sum(1 for _ in chosen_rows(shared, centre))
    assert runs == 200
    print(
        f"{centre}: {runs - len(different)} of {runs} partitions are equal, different: {different}"
    )
    assert len(different) <= 0.03 * runs


def chosen_rows(shared: Path, centre: str) -> Iterator[dict[str, str]]:
    for row in read_rows(shared / "golden" / "imwk.csv"):
        if row["centre"] == centre and float(row["p"]) >= 1.5 and row["data"] not in LATTICES:
            yield row


def compared(shared: Path, centre: str) -> Iterator[tuple[str, bool]]:
    golden = np.load(shared / "golden" / "imwk.npz")
    for row in chosen_rows(shared, centre):
        name = "|".join(row[part] for part in ("data", "normalisation", "p", "centre"))
        X = normalise(features(shared, golden, row["data"]), row["normalisation"])
        found = imwk(X, int(row["k"]), float(row["p"]), centre)
        yield name, adjusted_rand_index(golden[name], found.labels) == 1


def normalise(X: Float64Array, name: str) -> Float64Array:
    """Normalise as the independent program did, which divided by the population's deviation."""
    if name != "z-score":
        return normalise_by_present_rules(X, name)
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def features(shared: Path, golden: "np.lib.npyio.NpzFile", data: str) -> Float64Array:
    key = f"{data}_X"
    return golden[key] if key in golden else read_real(shared, data, "uci").X
