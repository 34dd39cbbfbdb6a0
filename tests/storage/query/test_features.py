"""Features ranked by kept weights, against a slow ranking by hand."""

from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from pipeline.core.errors import InvalidInputError
from pipeline.execution.block import run_tile
from pipeline.spec import SweepSpec
from pipeline.spec.sweep import Sweep
from storage import CubeError, create_cube, ranked_features, weights
from storage.tiles import write_tile
from tests.own_tables import small_table

NOISY = "1000x6-3 +3NF"


def synthetic(**changes: Any) -> SweepSpec:
    """Return a sweep of two noisy data sets and a clean one, which keeps weights."""
    values: dict[str, Any] = {
        "datasets": {"synthetic": {"configs": [NOISY, "1000x6-3"], "count": 2}},
        "normalisations": ["range", "z-score"],
        "parts": ["imwk"],
        "p1": [1.3, 2],
        "keep": ["weights"],
        **changes,
    }
    return SweepSpec.model_validate(values)


def computed(location: Path, spec: SweepSpec, leave_out: int | None = None) -> Path:
    """Compute the tiles of a sweep, except those of one data set."""
    create_cube(location, spec)
    for tile in spec.tiles:
        if tile.dataset != leave_out:
            write_tile(location, tile, [run_tile(spec, tile)])
    return location


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the complete cube."""
    return computed(tmp_path_factory.mktemp("features") / "cube.zarr", synthetic())


def medians_of(cube: Path, **where: Any) -> list[float]:
    """Return the median weight of each feature, one number at a time."""
    of_runs = weights(cube, config=NOISY, part="imwk", **where).load()
    columns = of_runs.transpose("feature", ...).values
    return [median(float(w) for w in column.ravel() if not np.isnan(w)) for column in columns]


@pytest.mark.parametrize("normalisation", [None, "range", ["range"], ["range", "z-score"]])
def test_features_are_ranked_by_the_median_of_their_weights(cube: Path, normalisation: Any) -> None:
    found = ranked_features(cube, config=NOISY, normalisation=normalisation)
    by_hand = medians_of(cube, normalisation=normalisation)
    assert found.feature.values.tolist() == sorted(range(9), key=lambda v: -by_hand[v])
    for feature, value in enumerate(by_hand):
        one = found.sel(feature=feature)
        assert one["median"].item() == pytest.approx(value)
        assert one["lower"].item() < value < one["upper"].item()
        assert one["noise"].item() == (feature >= 6)


def test_quartiles_are_those_of_all_weights(cube: Path) -> None:
    found = ranked_features(cube, config="1000x6-3").sortby("feature")
    of_runs = weights(cube, config="1000x6-3", part="imwk").load()
    rows = of_runs.transpose(..., "feature").values.reshape(-1, 6)
    assert found["lower"].values == pytest.approx(np.percentile(rows, 25, axis=0))
    assert found["upper"].values == pytest.approx(np.percentile(rows, 75, axis=0))
    assert not {"noise", "noise_last"} & set(found.variables)


def share_by_hand(cube: Path, dataset: int) -> float:
    by_hand = medians_of(cube, dataset=dataset)
    last = sorted(range(9), key=lambda v: -by_hand[v])[-3:]
    return sum(feature >= 6 for feature in last) / 3


def test_noise_features_in_the_last_places_are_counted_by_data_set(cube: Path) -> None:
    found = ranked_features(cube, config=NOISY)["noise_last"].item()
    assert found == pytest.approx((share_by_hand(cube, 0) + share_by_hand(cube, 1)) / 2)


def test_data_sets_that_are_not_done_do_not_count(cube: Path, tmp_path: Path) -> None:
    partial = computed(tmp_path / "cube.zarr", synthetic(), leave_out=0)
    found = ranked_features(partial, config=NOISY)
    assert found["noise_last"].item() == pytest.approx(share_by_hand(cube, 1))
    by_hand = medians_of(cube, dataset=1)
    assert found["median"].sortby("feature").values == pytest.approx(by_hand)


def test_clusters_that_were_not_formed_do_not_count(tmp_path: Path) -> None:
    table = small_table(3)
    sweep = Sweep.of({"mine": table}, k=25, normalisations=["range"], p1=[2], parts=["imwk"])
    location = tmp_path / "cube.zarr"
    create_cube(location, sweep.spec, sweep.tables)
    write_tile(location, sweep.spec.tiles[0], [run_tile(sweep.spec, sweep.spec.tiles[0], table)])
    of_run = weights(location, part="imwk").load().values.reshape(25, -1)
    formed = of_run[~np.isnan(of_run).any(axis=1)]
    assert 0 < len(formed) < 25
    found = ranked_features(location)
    assert sorted(found.feature.values) == sorted(table.features)
    by_hand = dict(zip(table.features, np.median(formed, axis=0), strict=True))
    for name, value in by_hand.items():
        assert found["median"].sel(feature=name).item() == pytest.approx(value)


def test_what_cannot_be_ranked_is_explained(cube: Path, tmp_path: Path) -> None:
    create_cube(tmp_path / "empty.zarr", synthetic())
    with pytest.raises(CubeError, match=r"No tile of 1000x6-3 in the cube .* is done"):
        ranked_features(tmp_path / "empty.zarr", config="1000x6-3")
    create_cube(tmp_path / "none.zarr", synthetic(keep=[]))
    with pytest.raises(CubeError, match=r'has no weights.*keep = \["labels", "weights"\]'):
        ranked_features(tmp_path / "none.zarr", config=NOISY)
    with pytest.raises(InvalidInputError, match="2 configurations"):
        ranked_features(cube)
    with pytest.raises(InvalidInputError, match="min-max"):
        ranked_features(cube, config=NOISY, normalisation="min-max")
