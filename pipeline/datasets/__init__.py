"""The data sets that sweeps run on."""

from pipeline.datasets.columns import TableError
from pipeline.datasets.synthetic import CONFIGURATIONS, Configuration, Dataset, synthetic_dataset
from pipeline.datasets.table import Table, read_table

__all__ = [
    "CONFIGURATIONS",
    "Configuration",
    "Dataset",
    "Table",
    "TableError",
    "read_table",
    "synthetic_dataset",
]
