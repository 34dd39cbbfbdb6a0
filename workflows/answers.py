"""Ask a cube a question, and return or print the answer as rows."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import pandas as pd
import xarray as xr
from rich.table import Table

from storage.query import (
    as_variable,
    averaged,
    best_scores,
    chosen_exponents,
    described,
    score_variable,
    scores,
    select,
)
from workflows.errors import ArgumentError
from workflows.terminal import as_table

#: Longer answers are cut in the terminal, but not in CSV or JSON.
LONGEST_TABLE = 20


@dataclass(frozen=True)
class Question:
    """A question to a cube.

    Attributes
    ----------
    variable : str
        The result. If it has restarts, their mean is used.
    config, normalisation, dataset, p1, p2 : tuple
        The labels to select, as for `storage.select`. An empty tuple selects all.
    best : bool
        Whether to return only the best exponents: of each data set or, with `average`, those that
        are best on average over data sets.
    by : str or None
        The score without classes that chooses the best exponents. By default the variable itself.
    average : bool
        Whether to return means over data sets, with the number of data sets.
    top : int or None
        The number of rows to return, the best first: the highest or, if lower is better, the
        lowest. By default all rows, in the order of the cube.
    where : mapping
        Values of coordinates along the configurations, as for `storage.select`.
    """

    variable: str = "rescaled_imwk_ari"
    config: tuple[str, ...] = ()
    normalisation: tuple[str, ...] = ()
    dataset: tuple[int, ...] = ()
    p1: tuple[float, ...] = ()
    p2: tuple[float, ...] = ()
    best: bool = False
    by: str | None = None
    average: bool = False
    top: int | None = None
    where: Mapping[str, Any] = field(default_factory=dict)

    def asked(self, cube: xr.Dataset) -> str:
        """Return the variable that rows are ranked by."""
        if self.by is None:
            return self.variable
        return score_variable(self.variable, self.by, described(cube))


def answer(cube: xr.Dataset, question: Question) -> pd.DataFrame:
    """Check a question to a cube, and compute the answer as rows.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    question : Question
        The question.

    Returns
    -------
    pandas.DataFrame
        The labels, then the result under its own name. Means also have ``spread`` and
        ``datasets``, and exponents that a score chooses ``clusters``, ``ari`` and ``best_ari``.
        There is no row where the cube has no result.

    Raises
    ------
    InvalidInputError
        If the question names something that the cube does not contain.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[[[0.5, 0.7]]]], coords).to_dataset(name="imwk_ari")
    >>> answer(cube, Question("imwk_ari", best=True)).iloc[0].to_dict()
    {'config': 'Iris', 'dataset': 0, 'normalisation': 'range', 'p1': 2.0, 'imwk_ari': 0.7}
    >>> answer(cube, Question("imwk_ari", p2=(2.0,)))
    Traceback (most recent call last):
    workflows.errors.ArgumentError: imwk_ari does not depend on p2. Leave out p2, or choose \
another variable.
    """
    _refuse_contradictions(cube, question)
    part = select(
        cube,
        config=question.config,
        normalisation=question.normalisation,
        dataset=question.dataset,
        p1=question.p1,
        p2=question.p2,
        where=question.where,
    )
    asked = question.asked(cube)
    rows = _rows(_asked(part, question).compute(), asked)
    if question.top is None:
        return rows
    ascending = not as_variable(cube, asked).higher_is_better
    return rows.sort_values(asked, ascending=ascending, kind="stable").head(question.top)


def json_pieces(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the text of one JSON list row by row, with numbers in full precision.

    Scores that are infinite, because they are undefined, are null: JSON has no infinity.

    Examples
    --------
    >>> rows = pd.DataFrame({"imwk_ari": [0.5, 0.25], "spread": [0.1, None]})
    >>> print("".join(json_pieces(rows)))
    [{"imwk_ari": 0.5, "spread": 0.1},
     {"imwk_ari": 0.25, "spread": null}]
    """
    before = "["
    for values in rows.itertuples(index=False):
        known = (None if _is_unknown(value) else value for value in values)
        record = dict(zip(rows.columns, known, strict=True))
        yield f"{before}{json.dumps(record, ensure_ascii=False)}"
        before = ",\n "
    yield "]" if len(rows) else "[]"


def answer_table(rows: pd.DataFrame, advice: str = "") -> Table:
    """Return the rows as a table for a terminal, cut if it is long.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows.
    advice : str
        How to see all rows. It is printed below a table that is cut.

    Examples
    --------
    >>> long = answer_table(pd.DataFrame({"config": ["Iris"] * 30, "imwk_ari": 0.5}), "Ask less.")
    >>> long.row_count, str(long.caption)
    (20, '10 more rows are not shown. Ask less.')
    >>> print(answer_table(pd.DataFrame({"config": [], "imwk_ari": []})).caption)
    The cube has no such result yet.
    """
    columns = [str(name) for name in rows.columns]
    cells = (
        [_shown(name, value) for name, value in zip(columns, values, strict=True)]
        for values in rows.head(LONGEST_TABLE).itertuples(index=False)
    )
    header = [_HEADERS.get(name, name) for name in columns]
    return as_table(None, header, cells, _WORDS, _caption(len(rows), advice))


_HEADERS = {
    "config": "configuration",
    "datasets": "data sets",
    "dataset": "data set",
    "ari": "ARI there",
    "best_ari": "best ARI",
    "mean_ari": "mean ARI",
    "standard_error": "standard error",
}
_WORDS = ("configuration", "normalisation", "algorithm")
#: Columns that stand to the right of the result, if there are any.
_BESIDE = ("spread", "datasets", "clusters", "ari", "best_ari")


def _caption(count: int, advice: str) -> str | None:
    if not count:
        return "The cube has no such result yet."
    more = count - LONGEST_TABLE
    return f"{more:,} more rows are not shown. {advice}".rstrip() if more > 0 else None


def _refuse_contradictions(cube: xr.Dataset, question: Question) -> None:
    if question.by is not None and not question.best:
        raise ArgumentError(
            "A score chooses the best exponents, so `by` needs `best`. Give both.", "best", "by"
        )
    dims = as_variable(cube, question.asked(cube)).dims
    for dim in ("p1", "p2"):
        if getattr(question, dim) and dim not in dims:
            raise ArgumentError(
                f"{question.variable} does not depend on {dim}. Leave out {dim}, or choose "
                "another variable.",
                dim,
                "variable",
            )


def _asked(part: xr.Dataset, question: Question) -> xr.Dataset:
    """Return the answer as a lazy Dataset, with the result under its own name."""
    name = question.variable
    if question.by is not None:
        return chosen_exponents(part, name, question.by, average=question.average)
    if question.best:
        return best_scores(part, name, average=question.average)
    values = scores(part, name)
    return averaged(values).rename(average=name) if question.average else values.to_dataset()


def _rows(found: xr.Dataset, name: str) -> pd.DataFrame:
    frame = found.to_dataframe(dim_order=list(found[name].dims)).dropna(subset=[name])
    frame = frame.reset_index()
    exponents = [dim for dim in ("p1", "p2") if dim in frame]
    labels = [str(dim) for dim in found[name].dims if dim not in exponents]
    beside = [column for column in _BESIDE if column in frame]
    if "clusters" in beside:  # there are no gaps any more, for which counts are read as floats
        frame = frame.astype({"clusters": int})
    return frame[[*labels, *exponents, name, *beside]]


def _shown(name: str, value: Any) -> str:
    if _is_unknown(value):
        return "-"
    if name in ("p1", "p2", "noise_share"):
        return f"{value:g}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float) and not isfinite(value)
