"""Readers of the shared folder: published values, real data sets, golden labels."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.uci.catalogue import uci_sets

#: The shared folder's file names of real data sets, by the paper's names.
REAL_DATA = {name: entry.key for name, entry in uci_sets().items()}


@dataclass(frozen=True)
class LabelledData:
    """A real data set as the paper describes it, not normalised."""

    X: NDArray[np.float64]
    y: NDArray[np.str_]

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return len(np.unique(self.y))


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a CSV file with a header."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_real(shared: Path, name: str, folder: str = "uci18") -> LabelledData:
    """Read a real data set by its file name, such as ``iris``; golden labels need `uci`."""
    table = np.genfromtxt(shared / folder / f"{name}.csv", delimiter=",", skip_header=1, dtype=str)
    return LabelledData(table[:, :-1].astype(np.float64), table[:, -1])


def published(shared: Path, data_set: str, normalisation: str, algorithm: str) -> float:
    """Return a best ARI from the paper table for real data."""
    for row in read_rows(shared / "paper" / "best_exponents_real.csv"):
        if (row["data_set"], row["normalisation"], row["algorithm"]) == (
            data_set,
            normalisation,
            algorithm,
        ):
            return float(row["ari_mean"])
    raise LookupError(f"no published value for {data_set}, {normalisation}, {algorithm}")
