"""Run a small sweep over the exponents p1 and p2, and ask its cube questions with xarray.

The cube is a folder in the Zarr format. Run the script again: it finds all tiles done.

    python small_sweep.py small.zarr
"""

import sys

from pipeline.spec import SweepSpec
from storage import open_cube
from workflows import submit

SPEC = SweepSpec(
    # Two data sets of the paper's configuration with 6 features, 3 clusters and 3 noise features.
    datasets={"synthetic": {"configs": ["1000x6-3 +3NF"], "count": 2}},
    normalisations=["range"],
    p1=[1.5, 2, 3],  # exponents of the run whose weights rescale the data
    p2=[1.5, 2, 3],  # exponents of the runs on the rescaled data
    restarts=10,  # of k-means++, for comparison
)


def main(cube: str = "small.zarr") -> None:
    """Compute what the cube lacks, then print the best exponents."""
    # workers=0 computes in this process. Leave it out to start one worker process for each core,
    # or give client=Client(...) to use the workers of any Dask scheduler.
    print(submit(SPEC, cube, workers=0))

    # An xarray.Dataset, which reads values only when they are needed.
    results = open_cube(cube)

    # The adjusted Rand index (ARI) of imwk-means on the rescaled data, a mean over the data sets.
    chosen = results.rescaled_imwk_ari.sel(config="1000x6-3 +3NF", normalisation="range")
    mean = chosen.mean("dataset").compute()
    print(mean.to_pandas().round(3))

    best = mean.isel(mean.argmax(["p1", "p2"]))
    print(f"best: ARI {best.item():.3f} at p1 = {best.p1.item()}, p2 = {best.p2.item()}")
    print(f"k-means++ without rescaling: ARI {float(results.kmeans_ari.mean()):.3f}")


if __name__ == "__main__":  # worker processes import this file, and must not start a sweep
    main(*sys.argv[1:])
