"""Real data, the authors' fixed-step centre: time of a run, and core-hours of the whole grid."""

import os
from dataclasses import dataclass
from pathlib import Path
from warnings import catch_warnings, simplefilter

from benchmarks.grid import GridCost, grid_cost, sample
from benchmarks.tables import Section
from pipeline.core import ConstantFeatureWarning, normalise
from tests.shared_data import read_real

RESCALING_EXPONENTS, EXPONENTS = sample(4), sample(10)
TARGET = 6.0


@dataclass(frozen=True)
class RealData:
    """CPU milliseconds of a run on the data and on rescaled data, and hours of the whole grid."""

    data: str
    n: int
    m: int
    k: int
    z_score: float
    z_score_rescaled: float
    range: float
    range_rescaled: float
    core_hours: float


def measure() -> Section:
    """Measure a sample of the grid on every real data set, where the data are."""
    folder = os.environ.get("IMWK_SHARED")
    if folder is None:
        return Section("Real data: not measured, IMWK_SHARED names no folder with them.", [])
    files = sorted((Path(folder) / "uci").glob("*.csv"))
    rows = [_measure(Path(folder), file.stem) for file in files]
    hours = sum(row.core_hours for row in rows)
    return Section(
        "CPU milliseconds of a run on real data, fixed-step centre, one thread.",
        rows,
        {"core_hours": hours, "target": TARGET},
        f"Both normalisations, the full grid: {hours:.2f} core-hours; target {TARGET:g}.",
    )


def _measure(folder: Path, name: str) -> RealData:
    z_score, ranges = _cost(folder, name, "z-score"), _cost(folder, name, "range")
    data = read_real(folder, name)
    n, m = data.X.shape
    return RealData(
        name,
        n,
        m,
        data.classes,
        1000 * z_score.original.seconds,
        1000 * z_score.rescaled.seconds,
        1000 * ranges.original.seconds,
        1000 * ranges.rescaled.seconds,
        (z_score.whole.seconds + ranges.whole.seconds) / 3600,
    )


def _cost(folder: Path, name: str, normalisation: str) -> GridCost:
    data = read_real(folder, name)
    with catch_warnings():
        simplefilter("ignore", ConstantFeatureWarning)
        X = normalise(data.X, normalisation)
    return grid_cost(X, data.classes, RESCALING_EXPONENTS, EXPONENTS, centre="fixed-step")
