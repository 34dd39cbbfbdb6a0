"""What rules that need no classes choose: `python -m benchmarks.choice`."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path
from time import process_time

import click
import numpy as np

from benchmarks.candidates import NORMALISATIONS, RULES, candidates, joined
from benchmarks.tables import Section
from pipeline.core.types import Float64Array
from pipeline.datasets import CONFIGURATIONS, Dataset, synthetic_dataset
from pipeline.datasets.generator import NOISES
from tests.shared_data import read_real

#: Neither the seed of the paper's sweep, nor one on which rules were tuned.
SEED, DATA_SETS = 4711, 6
INFO, ENSEMBLES = "info, plain and rescaled", "info, with ensembles"
SILHOUETTE = "silhouette, rescaled"
#: The largest mean regrets, and the least gain of info over the silhouette.
TARGETS = {"info": 0.05, "ensembles": 0.02, "gain": 0.06}


@dataclass(frozen=True)
class Regret:
    """The best ARI on rescaled data less that of what a rule picks: mean and standard error."""

    rule: str
    mean_ARI: float  # noqa: N815 (the name is a heading)
    no_noise: str
    NF: str
    NNF: str
    WCN: str
    all: str


@dataclass(frozen=True)
class RealData:
    """ARIs of what rules pick from the candidates of a real data set."""

    data: str
    features: int | str
    best_possible: float
    silhouette: float
    Calinski_Harabasz: float
    central: float
    info: float
    info_also_kmeans: float
    ensembles: float
    kmeans_least_inertia: float
    kmeans_expected: float


def _synthetic() -> list[Section]:
    data_sets = list(product(CONFIGURATIONS, range(DATA_SETS)))
    with ProcessPoolExecutor() as pool:
        found, seconds = zip(*pool.map(_synthetic_aris, data_sets), strict=True)
    by_config = np.reshape(found, (len(CONFIGURATIONS), DATA_SETS, -1, len(RULES)))
    aris, spent = dict(zip(CONFIGURATIONS, by_config, strict=True)), sum(seconds)
    together = {config: each[:, 0] for config, each in aris.items()}
    alone = {config: each[:, 1:].mean(axis=1) for config, each in aris.items()}
    return [
        _regrets_section("All normalisations compete", together, spent),
        _regrets_section("Each normalisation on its own, the mean of both", alone, spent),
    ]


def _regrets_section(what: str, aris: dict[str, Float64Array], spent: float) -> Section:
    rows = [_regret(place, rule, aris) for place, rule in enumerate(RULES)]
    regrets = _regrets(np.concatenate(list(aris.values()))).mean(axis=0).tolist()
    means = dict(zip(RULES, regrets, strict=True))
    found = {
        "info": means[INFO],
        "ensembles": means[ENSEMBLES],
        "gain": means[SILHOUETTE] - means[INFO],
    }
    return Section(
        f"{what}: mean ARI of what a rule picks, and its regret, mean ± standard error, on "
        f"{DATA_SETS} data sets of each of {len(CONFIGURATIONS)} synthetic configurations, seed "
        f"{SEED}.",
        rows,
        {**found, "cpu_seconds": spent},
        f"Mean regret of info {found['info']:.4f} (target: at most {TARGETS['info']:g}), "
        f"{found['gain']:.4f} below that of the silhouette (at least {TARGETS['gain']:g}); with "
        f"ensembles {found['ensembles']:.4f} (at most {TARGETS['ensembles']:g}). "
        f"{spent:.0f} CPU seconds.",
    )


def _synthetic_aris(data_set: tuple[str, int]) -> tuple[list[list[float]], float]:
    """Return what the rules pick from a data set, and the CPU time."""
    start, (config, index) = process_time(), data_set
    data, k = synthetic_dataset(config, index, SEED), CONFIGURATIONS[config].clusters
    return _picked(data, k, f"{config} {index}"), process_time() - start


def _picked(data: Dataset, k: int, name: str) -> list[list[float]]:
    """Return the ARI of what each rule picks, from all normalisations and from each alone."""
    parts = [candidates(data, k, name, each) for each in NORMALISATIONS]
    return [[rule(found) for rule in RULES.values()] for found in (joined(parts), *parts)]


def _regrets(aris: Float64Array) -> Float64Array:
    """Return how far below the best each rule (column) is; the first rule is the best."""
    return np.asarray(aris[:, :1] - aris)


def _regret(place: int, rule: str, aris: dict[str, Float64Array]) -> Regret:
    whole = np.concatenate(list(aris.values()))
    parts = [
        np.concatenate([aris[name] for name, each in CONFIGURATIONS.items() if each.noise == kind])
        for kind in NOISES
    ]
    cells = [_mean_and_error(_regrets(part)[:, place]) for part in (*parts, whole)]
    return Regret(rule, float(whole[:, place].mean()), *cells)


def _mean_and_error(values: Float64Array) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=1) / sqrt(len(values)):.3f}"


def _real() -> list[Section]:
    named = os.environ.get("IMWK_SHARED")
    if named is None:
        return [Section("Real data: not measured, IMWK_SHARED names no folder with them.", [])]
    start, folder = process_time(), Path(named)
    files = sorted((folder / "uci18").glob("*.csv"))
    rows = [_real_aris(folder, file.stem) for file in files]
    gains = [_gain(rows, "silhouette"), _gain(rows, "kmeans_least_inertia")]
    spent = process_time() - start
    return [
        Section(
            f"ARI of what each rule picks on {len(files)} real data sets, where all normalisations "
            "compete. The best possible is that on rescaled data.",
            [*rows, _mean(rows)],
            {"cpu_seconds": spent},
            " ".join([*gains, f"{spent:.0f} CPU seconds."]),
        )
    ]


def _real_aris(folder: Path, name: str) -> RealData:
    real = read_real(folder, name)
    _, classes = np.unique(real.y, return_inverse=True)
    aris, *_ = _picked(Dataset(real.X, classes), real.classes, name)
    return RealData(name, real.X.shape[1], *(round(ari, 3) + 0.0 for ari in aris))


def _mean(rows: Sequence[RealData]) -> RealData:
    """Return the last line of the table."""
    names = list(RealData.__dataclass_fields__)[2:]
    means = [np.mean([getattr(row, name) for row in rows]).round(3).item() for name in names]
    return RealData("mean", "", *means)


def _gain(rows: Sequence[RealData], other: str) -> str:
    """Return a sentence that compares info with another rule."""
    gains = np.array([row.info - getattr(row, other) for row in rows])
    return (
        f"info less {other.replace('_', ' ')}: {_mean_and_error(gains)}, better on "
        f"{np.count_nonzero(gains > 0)} and worse on {np.count_nonzero(gains < 0)}."
    )


#: The parts of the study.
PARTS = {"synthetic": _synthetic, "real": _real}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
def main(parts: tuple[str, ...]) -> None:
    """Compare the rules on all data, or on some PARTS of them."""
    for part in parts or PARTS:
        for section in PARTS[part]():
            print(section.as_markdown(), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
