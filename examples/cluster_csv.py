"""Cluster a CSV file of your own, and see which features tell the clusters apart.

Run it with your file and the number of clusters, or without arguments for parts.csv:

    python cluster_csv.py my.csv 3
"""

import sys
from pathlib import Path

import numpy as np

from pipeline.core import imwk, normalise, silhouette
from pipeline.datasets import read_table

HERE = Path(__file__).parent


def main(file: str = str(HERE / "parts.csv"), k: str = "3") -> None:
    """Cluster a file, print the weights of its features and write the labels."""
    # The column `kind` of parts.csv has the true classes. A clustering must not see them.
    table = read_table(file, ignore=["kind"] if Path(file).name == "parts.csv" else [])

    # All features get the same range. Without this step the feature with the largest numbers
    # would decide everything.
    X = normalise(table.X, "range")

    # p near 1 gives almost all weight to the few best features; a large p spreads it evenly.
    result = imwk(X, k=int(k), p=1.5)

    print(f"{len(X)} rows in clusters of {np.bincount(result.labels).tolist()}")
    print(f"silhouette {silhouette(X, result.labels):.3f}")
    print("weight of each feature, the mean over the clusters:")
    for name, weight in zip(table.features, result.weights.mean(axis=0), strict=True):
        print(f"  {name:<18} {weight:.2f}")

    np.savetxt("labels.csv", result.labels, fmt="%d", header="cluster", comments="")
    print("the labels are in labels.csv")


if __name__ == "__main__":
    main(*sys.argv[1:])
