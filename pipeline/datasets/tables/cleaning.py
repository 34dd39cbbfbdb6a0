"""What is wrong with columns: refused with the cells named or, where that was asked for, mended."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pipeline.core.types import FloatArray
from pipeline.datasets.tables.columns import LISTED, Column, Columns
from pipeline.datasets.tables.delimited import MOST_CATEGORIES, is_number_or_missing

#: With fewer rows a category, a column of more than `FEW` categories is an identifier.
ROWS_PER_CATEGORY, FEW = 2, 10


def refuse_unusable(table: Columns, column: Column) -> None:
    """Refuse a column that no encoding can serve: of infinite numbers, or of names of rows."""
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
        f"column {column.name!r} has {many} different values in {table.rows:,} rows and is no "
        f"number{_about_stray(table, column)}. If it identifies rows, ignore it: ignore = "
        f"[{column.name!r}] (or --ignore). If it should be numbers, correct it."
    )


def refuse_missing(table: Columns, columns: Sequence[Column]) -> None:
    """Refuse missing values, and name the cells."""
    gaps = {column.name: column.missing for column in columns if column.missing.any()}
    if gaps:
        raise table.error(
            f"values are missing in {table.cells(gaps)}. Fill them in, or impute them: "
            'missing = "impute" (or --missing impute).'
        )


def imputed(column: Column) -> Column:
    """Put the mean, or the most frequent category, in place of what is missing.

    Examples
    --------
    >>> imputed(Column("age", np.array([1.0, np.nan, 2.0]))).values.tolist()
    [1.0, 1.5, 2.0]
    >>> imputed(Column("colour", np.array([0, 1, -1, 1]), ("blue", "red"))).values.tolist()
    [0, 1, 1, 1]
    """
    missing = column.missing
    if not missing.any():
        return column
    known = column.values[~missing]
    usual = _mean(known) if column.categories is None else np.bincount(known).argmax()
    return replace(column, values=np.where(missing, usual, column.values))


def _mean(values: FloatArray) -> float:
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else float((values / len(values)).sum())


def notices_of(table: Columns, columns: Sequence[Column], constant: Sequence[str]) -> Iterator[str]:
    """Say what became of columns that did not go into the matrix as they are."""
    for column in columns:
        missing = int(column.missing.sum())
        if missing == table.rows:
            yield f"column {column.name!r} is empty and was dropped"
        elif missing:
            way = "mean" if column.categories is None else "most frequent category"
            yield f"missing values of column {column.name!r} became its {way}, {missing:,} in all"
        if any(map(is_number_or_missing, column.categories or ())) and column.stray:
            yield (
                f"column {column.name!r} has numbers but was taken as categories"
                f"{_about_stray(table, column)}"
            )
    if constant:
        listed = ", ".join(map(repr, constant[:LISTED]))
        more = f" and {len(constant) - LISTED:,} more" if len(constant) > LISTED else ""
        yield f"constant columns were dropped, {len(constant):,} in all: {listed}{more}"


def _about_stray(table: Columns, column: Column) -> str:
    if column.stray is None:
        return ""
    row, text = column.stray
    return f", the first being {text[:40]!r} in {table.where(row)}"
