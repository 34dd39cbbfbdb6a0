"""The algorithms of a cube by title, and their mean results at the best exponents."""

from collections.abc import Sequence

import xarray as xr

from storage.layout.schema import Variable
from storage.query import as_variable, averaged, best_average, results_of, scores

#: The titles of the paper's algorithms, by part of the sweep and in their order.
TITLES = {
    "kmeans": "k-means++",
    "rescaled_kmeans": "rescaled k-means++",
    "imwk": "imwk-means",
    "rescaled_imwk": "rescaled imwk-means",
}


def known_results(cube: xr.Dataset) -> list[Variable]:
    """Return the descriptions of the results that a cube's sweep computes."""
    return [as_variable(cube, name) for name in results_of(cube)]


def algorithms(measure: str, known: Sequence[Variable]) -> dict[str, str]:
    """Return the titles of the algorithms that have a measure, by variable.

    Examples
    --------
    >>> from storage.layout.schema import all_results
    >>> algorithms("ari", [all_results(["ward"], [])["rescaled_ward_ari"]])
    {'rescaled_ward_ari': 'rescaled ward'}
    """
    parts = {each.name: str(each.part) for each in known}
    order = [*(f"{part}_{measure}" for part in TITLES), *parts]
    wanted = [name for name in order if name in parts and name == f"{parts[name]}_{measure}"]
    return {name: _title(parts[name]) for name in wanted}


def _title(part: str) -> str:
    """Return the title of a part, which has the name of a clusterer if it is not in `TITLES`.

    Examples
    --------
    >>> _title("imwk"), _title("rescaled_k_medoids")
    ('imwk-means', 'rescaled k-medoids')
    """
    name = part.removeprefix("rescaled_")
    words = name.replace("_", "-")
    return TITLES.get(part, words if name == part else f"rescaled {words}")


def mean_results(cube: xr.Dataset, name: str) -> xr.Dataset:
    """Return the means of a result over data sets, at the exponents with the best mean if any."""
    has_p1 = "p1" in as_variable(cube, name).dims
    return best_average(cube, name) if has_p1 else averaged(scores(cube, name))
