"""The data sets that sweeps run on: synthetic, a user's tables, and the paper's real data."""

from pipeline.datasets.batteries import load_battery
from pipeline.datasets.generator import Configuration, Dataset, generate_dataset
from pipeline.datasets.synthetic import CONFIGURATIONS, synthetic_dataset
from pipeline.datasets.tables.table import Table, make_table, read_table
from pipeline.datasets.uci.cache import load_uci
from pipeline.datasets.uci.fetch import fetch_uci
from pipeline.errors import TableError

__all__ = [
    "CONFIGURATIONS",
    "Configuration",
    "Dataset",
    "Table",
    "TableError",
    "fetch_uci",
    "generate_dataset",
    "load_battery",
    "load_uci",
    "make_table",
    "read_table",
    "synthetic_dataset",
]
