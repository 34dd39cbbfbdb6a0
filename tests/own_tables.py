"""Small tables in place of a user's data, and files of them."""

from pathlib import Path

import numpy as np

from pipeline.datasets import Table


def small_table(seed: int = 0, *, labelled: bool = True, rows: int = 40) -> Table:
    """Return a table of three clusters in two features, with a third feature of noise."""
    rng = np.random.default_rng(seed)
    classes = np.arange(rows) % 3
    X = np.column_stack(
        [classes + rng.normal(0, 0.2, rows), -classes + rng.normal(0, 0.3, rows), rng.random(rows)]
    )
    return Table(X, ("a", "b", "noise"), *((classes, ("p", "q", "r")) if labelled else ()))


def written(table: Table, file: Path) -> Path:
    """Write a table as CSV without loss of precision."""
    header = [*table.features, *(["species"] if table.classes is not None else [])]
    lines = [",".join(header)]
    for row, numbers in enumerate(table.X.tolist()):
        label = [] if table.classes is None else [table.class_names[table.classes[row]]]
        lines.append(",".join([*map(repr, numbers), *label]))
    file.write_text("\n".join(lines) + "\n")
    return file
