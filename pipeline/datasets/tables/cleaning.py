"""Refuse values that cannot be encoded, naming their cells; or impute them if that is wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pipeline.core.types import FloatArray
from pipeline.datasets.tables.cells import is_number_or_missing
from pipeline.datasets.tables.columns import LISTED, MOST_CATEGORIES, Column, Columns

#: Ways to impute a missing number: by the mean, for users, or by the median, as the paper does.
IMPUTE, IMPUTE_MEDIAN = "impute", "impute median"
#: A column of more than `FEW` categories with fewer rows per category holds identifiers.
ROWS_PER_CATEGORY, FEW = 2, 10


def refuse_unusable(table: Columns, column: Column) -> None:
    """Refuse a column that cannot be encoded: of infinite numbers, or of identifiers."""
    if column.categories is None:
        infinite = np.isinf(column.values)
        if infinite.any():
            cells = table.cells({column.name: infinite})
            raise table.error(f"numbers are infinite or too large in {cells}. Correct them.")
        return
    count = len(column.categories)
    if count > MOST_CATEGORIES:
        many = f"more than {MOST_CATEGORIES}"
    elif count > FEW and count * ROWS_PER_CATEGORY > table.rows:
        many = str(count)
    else:
        return
    raise table.error(
        f"column {column.name!r} has {many} different values in {table.rows:,} rows that are not "
        f"numbers{_first_stray(table, column)}. If it identifies rows, ignore it: ignore = "
        f"[{column.name!r}]. If it should contain numbers, correct it."
    )


def refuse_missing(table: Columns, columns: Sequence[Column]) -> None:
    """Refuse missing values, and name their cells."""
    gaps = {column.name: column.missing for column in columns if column.missing.any()}
    if gaps:
        raise table.error(
            f"values are missing in {table.cells(gaps)}. Fill them in, or impute them: "
            'missing = "impute".'
        )


def imputed(column: Column, way: str = IMPUTE) -> Column:
    """Replace missing values by the mean or median, or by the most frequent category.

    Examples
    --------
    >>> imputed(Column("age", np.array([1.0, np.nan, 2.0]))).values.tolist()
    [1.0, 1.5, 2.0]
    >>> imputed(Column("age", np.array([1.0, np.nan, 2.0, 9.0])), IMPUTE_MEDIAN).values.tolist()
    [1.0, 2.0, 2.0, 9.0]
    >>> imputed(Column("colour", np.array([0, 1, -1, 1]), ("blue", "red"))).values.tolist()
    [0, 1, 1, 1]
    """
    missing = column.missing
    if not missing.any():
        return column
    known = column.values[~missing]
    number = np.median if way == IMPUTE_MEDIAN else _mean
    usual = number(known) if column.categories is None else np.bincount(known).argmax()
    return replace(column, values=np.where(missing, usual, column.values))


def _mean(values: FloatArray) -> float:
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else float((values / len(values)).sum())


def notices_of(
    table: Columns, columns: Sequence[Column], constant: Sequence[str], way: str
) -> Iterator[str]:
    """Yield a notice for each column that was dropped, imputed or read as categories."""
    for column in columns:
        missing = int(column.missing.sum())
        if missing == table.rows:
            yield f"column {column.name!r} is empty and was dropped"
        elif missing:
            number = "median" if way == IMPUTE_MEDIAN else "mean"
            usual = number if column.categories is None else "most frequent category"
            yield f"missing values of column {column.name!r} became its {usual}, {missing:,} in all"
        if any(map(is_number_or_missing, column.categories or ())) and column.stray:
            yield (
                f"column {column.name!r} has numbers but was read as categories"
                f"{_first_stray(table, column)}"
            )
    if constant:
        listed = ", ".join(map(repr, constant[:LISTED]))
        more = f" and {len(constant) - LISTED:,} more" if len(constant) > LISTED else ""
        yield f"constant columns were dropped, {len(constant):,} in all: {listed}{more}"


def _first_stray(table: Columns, column: Column) -> str:
    if column.stray is None:
        return ""
    row, text = column.stray
    return f", first {text[:40]!r} in {table.where(row)}"
