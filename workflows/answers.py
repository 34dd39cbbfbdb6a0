"""Answers to questions about a cube as rows, for people and for programs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

import pandas as pd
import xarray as xr
from rich.table import Table

from pipeline.core.errors import InvalidInputError
from storage.query import (
    as_variable,
    averaged,
    best_average,
    best_exponents,
    chosen_exponents,
    score_variable,
    scores,
    select,
)
from workflows.terminal import as_table

#: Longer answers are cut in the terminal, not in CSV or JSON.
LONGEST_TABLE = 20


@dataclass(frozen=True)
class Question:
    """What is asked of a cube.

    Attributes
    ----------
    variable : str
        The result; with restarts, their mean.
    config, normalisation, dataset, p1, p2 : tuple
        What to choose, as for `storage.select`; all of it if empty.
    best : bool
        Only the best exponents: for each data set or, with `average`, for all together.
    by : str or None
        Choose the best by this score without classes, not by the variable itself.
    average : bool
        Means over data sets, with their numbers.
    top : int or None
        So many rows, the highest first; all in the order of the cube if None.
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

    @property
    def asked(self) -> str:
        """The variable that is ranked."""
        return self.variable if self.by is None else score_variable(self.variable, self.by)


def ask(cube: xr.Dataset, question: Question) -> xr.Dataset:
    """Check a question, and say lazily what answers it.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it.
    question : Question
        What is asked.

    Returns
    -------
    xarray.Dataset
        The result under its own name; the best also ``p1`` and ``p2``, means ``spread`` and
        ``datasets``; as of `chosen_exponents` if chosen by a score.

    Raises
    ------
    InvalidInputError
        If the question names something that is not in the cube.

    Examples
    --------
    >>> cube = xr.DataArray([0.5, 0.7], {"p1": [1.4, 2.0]}).to_dataset(name="imwk_ari")
    >>> ask(cube, Question("imwk_ari", p2=(2.0,)))
    Traceback (most recent call last):
    pipeline.core.errors.InvalidInputError: imwk_ari does not depend on p2. Leave out --p2, or choose another variable.
    """  # noqa: E501 - the message is one line
    if question.by is not None and not question.best:
        raise InvalidInputError("--by says how the best exponents are chosen. Give --best too.")
    _refuse_foreign_exponents(question, as_variable(cube, question.asked).dims)
    part = select(
        cube,
        config=question.config,
        normalisation=question.normalisation,
        dataset=question.dataset,
        p1=question.p1,
        p2=question.p2,
    )
    return _asked(part, question)


def answer(asked: xr.Dataset, question: Question) -> pd.DataFrame:
    """Compute what was asked, as rows; there is none where the cube has no result.

    Parameters
    ----------
    asked : xarray.Dataset
        Of `ask`, for the same question.
    question : Question
        What is asked.

    Returns
    -------
    pandas.DataFrame
        Labels, then the result under its own name; means have ``spread`` and ``datasets`` beside.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[[[0.5, 0.7]]]], coords).to_dataset(name="imwk_ari")
    >>> question = Question("imwk_ari", best=True)
    >>> answer(ask(cube, question), question).iloc[0].to_dict()
    {'config': 'Iris', 'dataset': 0, 'normalisation': 'range', 'p1': 2.0, 'imwk_ari': 0.7}
    """
    rows = _rows(asked.compute(), question.asked)
    return rows if question.top is None else rows.nlargest(question.top, question.asked)


def json_pieces(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the text of one JSON list, row by row, numbers in full.

    Examples
    --------
    >>> rows = pd.DataFrame({"imwk_ari": [0.5, 0.25], "spread": [0.1, None]})
    >>> print("".join(json_pieces(rows)))
    [{"imwk_ari": 0.5, "spread": 0.1},
     {"imwk_ari": 0.25, "spread": null}]
    """
    before = "["
    for values in rows.itertuples(index=False):
        known = (None if _is_nan(value) else value for value in values)
        record = dict(zip(rows.columns, known, strict=True))
        yield f"{before}{json.dumps(record, ensure_ascii=False)}"
        before = ",\n "
    yield "]" if len(rows) else "[]"


def answer_table(rows: pd.DataFrame) -> Table:
    """Return a table for people, cut if it is long.

    Examples
    --------
    >>> answer_table(pd.DataFrame({"config": ["Iris"] * 30, "imwk_ari": 0.5})).row_count
    20
    >>> print(answer_table(pd.DataFrame({"config": [], "imwk_ari": []})).caption)
    No result is there.
    """
    more = len(rows) - LONGEST_TABLE
    hint = f"{more:,} more rows: choose some, use --top, or print all with --csv or --json."
    if rows.empty:
        more, hint = 1, "No result is there."
    columns = [str(name) for name in rows.columns]
    cells = (
        [_shown(name, value) for name, value in zip(columns, values, strict=True)]
        for values in rows.head(LONGEST_TABLE).itertuples(index=False)
    )
    header = [_HEADERS.get(name, name) for name in columns]
    return as_table(None, header, cells, _WORDS, hint if more > 0 else None)


_HEADERS = {
    "config": "configuration",
    "datasets": "data sets",
    "dataset": "data set",
    "ari": "ARI there",
    "best_ari": "best ARI",
}
_WORDS = ("configuration", "normalisation")
#: Columns after the result, where there are some.
_BESIDE = ("spread", "datasets", "ari", "best_ari")


def _refuse_foreign_exponents(question: Question, dims: tuple[str, ...]) -> None:
    for dim in ("p1", "p2"):
        if getattr(question, dim) and dim not in dims:
            raise InvalidInputError(
                f"{question.variable} does not depend on {dim}. Leave out --{dim}, or choose "
                "another variable."
            )


def _asked(part: xr.Dataset, question: Question) -> xr.Dataset:
    name = question.variable
    if question.by is not None:
        return chosen_exponents(part, name, question.by, average=question.average)
    if question.best and question.average:
        return best_average(part, name).rename(average=name)
    if question.best:
        return best_exponents(part, name).rename(best=name)
    values = scores(part, name)
    return averaged(values).rename(average=name) if question.average else values.to_dataset()


def _rows(found: xr.Dataset, name: str) -> pd.DataFrame:
    frame = found.to_dataframe(dim_order=list(found[name].dims)).dropna(subset=[name])
    frame = frame.reset_index()
    exponents = [dim for dim in ("p1", "p2") if dim in frame]
    labels = [str(dim) for dim in found[name].dims if dim not in exponents]
    beside = [column for column in _BESIDE if column in frame]
    return frame[[*labels, *exponents, name, *beside]]


def _shown(name: str, value: Any) -> str:
    if _is_nan(value):
        return "-"
    if name in ("p1", "p2"):
        return f"{value:g}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)
