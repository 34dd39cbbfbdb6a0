"""Small tables in place of a user's data, and files of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline.core.agreement import NO_CLASS
from pipeline.datasets import Table


def small_table(seed: int = 0, *, labelled: bool = True, rows: int = 40) -> Table:
    """Return a table of three clusters in two features, with a third feature of noise."""
    rng = np.random.default_rng(seed)
    classes = np.arange(rows) % 3
    X = np.column_stack(
        [classes + rng.normal(0, 0.2, rows), -classes + rng.normal(0, 0.3, rows), rng.random(rows)]
    )
    return Table(X, ("a", "b", "noise"), *((classes, ("p", "q", "r")) if labelled else ()))


def noisy_table() -> Table:
    """Return the table with every fifth row as a noise point, far from all clusters."""
    table = small_table()
    classes, X = table.classes, table.X.copy()
    assert classes is not None
    noise = np.arange(len(X)) % 5 == 0
    X[noise] += np.random.default_rng(1).normal(0, 3, (int(noise.sum()), X.shape[1]))
    return replace(table, X=X, classes=np.where(noise, NO_CLASS, classes))


def written(table: Table, file: Path) -> Path:
    """Write a table as CSV without loss of precision."""
    header = [*table.features, *(["species"] if table.classes is not None else [])]
    lines = [",".join(header)]
    for row, numbers in enumerate(table.X.tolist()):
        label = [] if table.classes is None else [table.class_names[table.classes[row]]]
        lines.append(",".join([*map(repr, numbers), *label]))
    file.write_text("\n".join(lines) + "\n")
    return file
