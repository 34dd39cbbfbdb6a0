"""Compare the results of two algorithms in a cube, or of two cubes, in pairs over data sets."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import xarray as xr

from pipeline.core.validation import as_choice
from pipeline.score_facts import SCORE_FACTS, suffix
from pipeline.spec import SweepSpec
from storage import CubeLocation, open_cube, read_spec
from storage.query import as_variable, described, is_unlabelled, select
from storage.query.paired import best_results, labels_left_out, paired_differences
from workflows.errors import ArgumentError

#: What is compared by default: the main algorithm of the paper.
ALGORITHM = "rescaled_imwk"


@dataclass(frozen=True, eq=False)
class PairedComparison:
    """Two results, compared in pairs.

    Attributes
    ----------
    first, second : str
        What was compared: variables, with their cubes if there are two.
    exponents : str
        At which exponents, in words.
    rows : pandas.DataFrame
        As `storage.paired_differences` returns them.
    left_out : tuple of str
        Configurations and normalisations that only one of two cubes has.
    """

    first: str
    second: str
    exponents: str
    rows: pd.DataFrame
    left_out: tuple[str, ...] = ()


def compare(
    first: CubeLocation,
    second: CubeLocation | None = None,
    algorithms: tuple[str, str] = (ALGORITHM, ALGORITHM),
    *,
    score: str | None = None,
    config: tuple[str, ...] = (),
    normalisation: tuple[str, ...] = (),
    p1: float | None = None,
    p2: float | None = None,
    average: bool = False,
) -> PairedComparison:
    """Compare two algorithms in one cube, or the same or other algorithms in two cubes.

    Parameters
    ----------
    first, second : path or URL
        The cubes. With one cube, two different `algorithms`.
    algorithms : pair of str
        The algorithm of each side, such as ``imwk``, ``rescaled_imwk`` or ``kmeans``.
    score : str, optional
        The score, such as ``ari`` or ``silhouette``. By default the ARI or, if the data have no
        labels, the silhouette.
    config, normalisation : tuple of str
        Compare only these. By default all.
    p1, p2 : float, optional
        Compare at this exponent. By default at the best one.
    average : bool
        Take the exponents that are best on average over the data sets of a configuration. By
        default each data set has its own best exponents, as in most tables of the paper.

    Returns
    -------
    PairedComparison
        The paired differences, with their standard errors and p-values.

    Raises
    ------
    InvalidInputError
        If a cube does not have the result, or two cubes have different data under one name.

    Notes
    -----
    At the best exponents, an algorithm with more exponents has more chances: the best of 1,600
    results of imwk-means on rescaled data is never far below the best of 40 without rescaling. Give
    `p1` and `p2`, or `average`, for a stricter comparison.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from workflows import submit
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> keys = {"normalisations": ["range"], "p1": [1.5, 2], "restarts": 2}
    >>> spec = SweepSpec(datasets=data, parts=["kmeans", "imwk"], **keys)
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(spec, f"{folder}/cube.zarr", workers=0)
    ...     found = compare(f"{folder}/cube.zarr", algorithms=("imwk", "kmeans"))
    >>> found.first, found.second, int(found.rows.pairs[0])
    ('imwk_ari', 'kmeans_ari', 2)
    """
    if second is None and len(set(algorithms)) == 1:
        raise ArgumentError("Give two different algorithms, or two cubes.", "algorithms")
    if second is not None:
        refuse_other_data(read_spec(first), read_spec(second))
    opened = [open_cube(each) for each in (first, first if second is None else second)]
    names = [_variable(*side, score) for side in zip(opened, algorithms, strict=True)]
    sides = list(zip(opened, names, strict=True))
    _refuse_unused(sides, p1=p1, p2=p2)
    ours, theirs = (
        best_results(
            select(cube, config=config, normalisation=normalisation, **_given(cube, name, p1, p2)),
            name,
            average=average,
        )
        for cube, name in sides
    )
    better = as_variable(opened[0], names[0]).higher_is_better
    rows = paired_differences(ours, theirs, higher_is_better=better)
    titles = names if second is None else [f"{names[0]} in {first}", f"{names[1]} in {second}"]
    left_out = tuple(labels_left_out(ours, theirs))
    at = _exponents(p1, p2, average=average)
    return PairedComparison(titles[0], titles[1], at, rows, left_out)


def _variable(cube: xr.Dataset, algorithm: str, score: str | None) -> str:
    usual = "silhouette" if is_unlabelled(cube) else "ari"
    of_plugins = {str(each.score) for each in described(cube).values() if each.score is not None}
    known = [*SCORE_FACTS, *sorted(of_plugins - SCORE_FACTS.keys())]
    chosen = usual if score is None else as_choice(score, "score", known)
    return as_variable(cube, f"{suffix(algorithm)}_{suffix(chosen)}").name


def _given(cube: xr.Dataset, name: str, p1: float | None, p2: float | None) -> dict[str, Any]:
    """Return the exponents that were given, as far as a result depends on them."""
    dims = as_variable(cube, name).dims
    return {dim: p for dim, p in (("p1", p1), ("p2", p2)) if p is not None and dim in dims}


def _refuse_unused(sides: list[tuple[xr.Dataset, str]], **exponents: float | None) -> None:
    dims = {dim for cube, name in sides for dim in as_variable(cube, name).dims}
    for dim, exponent in exponents.items():
        if exponent is not None and dim not in dims:
            raise ArgumentError(
                f"Neither of the compared results depends on {dim}. Leave out {dim}.", dim
            )


def refuse_other_data(first: SweepSpec, second: SweepSpec) -> None:
    """Refuse two sweeps that have different data under one name: they make no pairs."""
    for config in first.configs:
        if config not in second.configs:
            continue
        if _data(first, second, config) != _data(second, first, config):
            raise ArgumentError(
                f"The two cubes have different data under the name {config}, so they cannot be "
                "compared in pairs. Compare cubes of the same tables and, for synthetic data, of "
                "the same seed and parameters."
            )


def _data(spec: SweepSpec, other: SweepSpec, config: str) -> tuple[object, ...]:
    """Return what tells the data sets that two sweeps have from others of their name."""
    count = min(spec.dataset_count(config), other.dataset_count(config))
    shape = spec.shape(config)
    if config in spec.datasets.matrices:
        return shape, *spec.datasets.matrices[config].hashes[:count]
    if config in spec.datasets.plugin:
        source = spec.datasets.plugin[config]
        named = ("generator", source.generator)
        made_by = [facts for facts in spec.plugins if (facts.kind, facts.name) == named]
        return spec.seed, source.generator, source.parameters, shape, *made_by
    return spec.seed, spec.datasets.configurations[config]


def _exponents(p1: float | None, p2: float | None, *, average: bool) -> str:
    """Return in words at which exponents results are compared.

    Examples
    --------
    >>> _exponents(1.5, None, average=True)
    'at p1 = 1.5 and the exponents that are best on average'
    >>> _exponents(1.5, 2.0, average=False)
    'at p1 = 1.5, p2 = 2'
    """
    given = [f"{name} = {p:g}" for name, p in (("p1", p1), ("p2", p2)) if p is not None]
    best = "best on average" if average else "best for each data set"
    rest = [] if len(given) == 2 else [f"the exponents that are {best}"]
    return "at " + " and ".join([*([", ".join(given)] if given else []), *rest])
