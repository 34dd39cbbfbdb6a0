"""How well `imwk plan` estimates the CPU time of a sweep: pilots against whole sweeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs

from benchmarks.grid import sample
from benchmarks.tables import Section
from pipeline.core.types import FloatArray, IntArray
from pipeline.execution.plan import make_plan
from pipeline.spec import SweepSpec
from pipeline.spec.sweep import Sweep
from workflows import submit

TARGET = 1.5
CENTRES = ("exact", "fixed-step")
TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
#: About a minute on the largest table.
FEW: dict[str, Any] = {
    "p1": sample(20),
    "p2": sample(20),
    "normalisations": ["z-score", "range"],
}
SYNTHETIC = "1000x12-6 +6NF"


@dataclass(frozen=True)
class Estimate:
    """CPU seconds of a sweep as planned and as used, and those of the pilots."""

    data: str
    centre: str
    pilots: float
    planned: float
    used: float
    planned_to_used: float


def measure() -> Section:
    """Plan sweeps, then compute them in this process."""
    rows = [_estimate(data, centre, sweep) for centre in CENTRES for data, sweep in _sweeps(centre)]
    worst = max((row.planned_to_used for row in rows), key=lambda ratio: abs(np.log(ratio)))
    return Section(
        "CPU seconds of sweeps, planned and used, default scores; the full grid, and 20 x 20 "
        "exponents with two normalisations for 5000 x 20.",
        rows,
        {"worst_ratio": worst, "target": TARGET},
        f"The worst ratio is {worst:.2f}; target: within {TARGET:g} times.",
    )


def _sweeps(centre: str) -> Iterator[tuple[str, Sweep]]:
    for name, load in TABLES.items():
        yield name, _table_sweep(*load(return_X_y=True), centre=centre)
    if centre == "exact":
        blobs = make_blobs(5000, 20, centers=8, cluster_std=3.0, random_state=1)
        yield "5000 x 20", _table_sweep(*blobs, centre=centre, **FEW)
        data = {"synthetic": {"configs": [SYNTHETIC], "count": 1}}
        yield SYNTHETIC, Sweep(SweepSpec(datasets=data, centre=centre), {})


def _table_sweep(X: FloatArray, y: IntArray, **keys: Any) -> Sweep:
    label = f"x{X.shape[1] + 1}"
    return Sweep.of({"table": np.column_stack([X, y])}, label=label, **keys)


def _estimate(data: str, centre: str, sweep: Sweep) -> Estimate:
    start = process_time()
    planned = make_plan(sweep.spec, 1, tables=sweep.tables).cpu_seconds
    middle = process_time()
    with TemporaryDirectory() as folder:
        submit(sweep, Path(folder) / "cube.zarr", workers=0)
    used = process_time() - middle
    return Estimate(data, centre, middle - start, planned, used, planned / used)
