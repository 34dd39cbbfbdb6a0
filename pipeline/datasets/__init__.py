"""The data sets that sweeps run on."""

from pipeline.datasets.synthetic import CONFIGURATIONS, Configuration, Dataset, synthetic_dataset

__all__ = ["CONFIGURATIONS", "Configuration", "Dataset", "synthetic_dataset"]
