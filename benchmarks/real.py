"""The paper's real data: time of a run, core-hours of the whole grid, fixed-step beside exact."""

import os
from dataclasses import dataclass
from pathlib import Path
from warnings import catch_warnings, simplefilter

from benchmarks.grid import GridCost, grid_cost, sample
from benchmarks.tables import Section
from benchmarks.timing import simd_class
from pipeline.core import ConstantFeatureWarning, normalise
from tests.shared_data import LabelledData, read_real

#: The folder with all 18 sets.
FOLDER = "uci18"
NORMALISATIONS = ("z-score", "range")
RESCALING_EXPONENTS, EXPONENTS = sample(4), sample(10)


@dataclass(frozen=True)
class RealData:
    """CPU milliseconds of a fixed-step run on the data and on rescaled data, for z-score and range.

    Then the core-hours of the whole grid with both normalisations, and their ratio to those with
    exact centres.
    """

    data: str
    n: int
    m: int
    k: int
    z_score: float
    z_score_rescaled: float
    range: float
    range_rescaled: float
    core_hours: float
    exact_core_hours: float
    to_exact: float


def measure() -> Section:
    """Measure a sample of the grid on every real data set, where the data are."""
    shared = os.environ.get("IMWK_SHARED")
    if shared is None:
        return Section("Real data: not measured, IMWK_SHARED names no folder with them.", [])
    names = sorted(file.stem for file in (Path(shared) / FOLDER).glob("*.csv"))
    rows = [_measure(name, read_real(Path(shared), name, FOLDER)) for name in names]
    hours = sum(row.core_hours for row in rows)
    ratio = hours / sum(row.exact_core_hours for row in rows)
    return Section(
        f"CPU milliseconds of a run on the {len(rows)} real data sets, fixed-step centre, one "
        f"thread. NumPy found {simd_class()}.",
        rows,
        {"core_hours": hours, "to_exact": ratio},
        f"Both normalisations, the full grid, imwk-means only: {hours:.2f} core-hours, "
        f"{ratio:.2f} times those with exact centres.",
    )


def _measure(name: str, data: LabelledData) -> RealData:
    z_score, ranges = (_cost(data, each, "fixed-step") for each in NORMALISATIONS)
    exact = sum(_cost(data, each, "exact").whole.seconds for each in NORMALISATIONS)
    fixed_step = z_score.whole.seconds + ranges.whole.seconds
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
        fixed_step / 3600,
        exact / 3600,
        fixed_step / exact,
    )


def _cost(data: LabelledData, normalisation: str, centre: str) -> GridCost:
    with catch_warnings():
        simplefilter("ignore", ConstantFeatureWarning)
        X = normalise(data.X, normalisation)
    return grid_cost(X, data.classes, RESCALING_EXPONENTS, EXPONENTS, centre=centre)
