"""The data sets that sweeps run on."""

from pipeline.datasets.synthetic import CONFIGURATIONS, Configuration, Dataset, synthetic_dataset
from pipeline.datasets.tables.table import Table, read_table
from pipeline.errors import TableError

__all__ = [
    "CONFIGURATIONS",
    "Configuration",
    "Dataset",
    "Table",
    "TableError",
    "read_table",
    "synthetic_dataset",
]
