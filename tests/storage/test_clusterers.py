"""Results of clusterers in a cube: written, extended, verified, exported and compared as others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zarr

from pipeline.spec import SweepSpec
from storage import CubeMismatchError, export_cube, extend_cube, open_cube, read_spec, verify_cube
from storage.query import as_variable, results_of
from workflows import score_cube, submit

DATA = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
NAMES = ["ward_ari", "rescaled_ward_ari", "gmm_ari", "rescaled_gmm_ari"]


def spec_of(**keys: object) -> SweepSpec:
    given: dict[str, object] = {
        "datasets": DATA,
        "normalisations": ["range"],
        "clusterers": ["ward", "gmm"],
    }
    given |= {"parts": ["imwk"], "restarts": 2, "p1": [1.5, 2], "p2": [2]}
    return SweepSpec.model_validate(given | keys)


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("cubes") / "cube.zarr"
    submit(spec_of(), location, workers=0)
    return location


def test_the_cube_describes_clusterers_like_other_results(cube: Path) -> None:
    opened = open_cube(cube)
    assert [name for name in results_of(opened) if not name.startswith("imwk")] == NAMES
    assert opened.gmm_ari.attrs["long_name"] == "Adjusted Rand index of gmm"
    assert as_variable(opened, "rescaled_gmm_ari").dims == ("p1", "restart")
    assert "rescaled at p1" in opened.rescaled_ward_ari.attrs["long_name"]
    assert read_spec(cube) == spec_of()


def test_an_extension_gives_the_bits_of_the_larger_sweep(tmp_path: Path) -> None:
    submit(spec_of(p1=[2]), tmp_path / "grown.zarr", workers=0)
    extend_cube(tmp_path / "grown.zarr", spec_of())
    submit(spec_of(), tmp_path / "grown.zarr", workers=0)
    submit(spec_of(), tmp_path / "whole.zarr", workers=0)
    grown, whole = (open_cube(tmp_path / f"{name}.zarr")[NAMES] for name in ("grown", "whole"))
    assert bool(grown.notnull().all().to_array().all())
    assert grown.equals(whole)


def test_clusterers_cannot_be_added_later(cube: Path) -> None:
    with pytest.raises(CubeMismatchError, match=r"clusterers: ward, gmm \(cube\), ward, average"):
        extend_cube(cube, spec_of(clusterers=["ward", "average", "gmm"]))


@pytest.mark.parametrize("name", ["ward_ari", "rescaled_gmm_ari"])
def test_a_result_out_of_range_or_lost_is_damage(name: str, tmp_path: Path) -> None:
    for value, words in ((1.5, f"{name} has 1.5"), (np.nan, f"{name} lacks 1 of")):
        location = tmp_path / f"{value}.zarr"
        submit(spec_of(), location, workers=0)
        array = zarr.open_group(location)[name]
        assert isinstance(array, zarr.Array)
        array[(0,) * array.ndim] = value
        (problems,) = verify_cube(location).damaged.values()
        assert words in str(problems)


def test_an_export_has_all_runs(cube: Path, tmp_path: Path) -> None:
    export_cube(cube, tmp_path / "all.csv")
    rows = pd.read_csv(tmp_path / "all.csv").groupby("variable").size().to_dict()
    assert {name: rows[name] for name in NAMES} == dict(zip(NAMES, (1, 2, 2, 4), strict=True))


def test_a_score_that_is_added_has_the_bits_of_a_sweep(tmp_path: Path) -> None:
    submit(spec_of(keep=["labels"]), tmp_path / "added.zarr", workers=0)
    score_cube(tmp_path / "added.zarr", ["silhouette"])
    whole = spec_of(keep=["labels"], scores=["silhouette"])
    submit(whole, tmp_path / "whole.zarr", workers=0)
    names = [name.replace("_ari", "_silhouette") for name in NAMES]
    added, swept = (open_cube(tmp_path / f"{name}.zarr")[names] for name in ("added", "whole"))
    assert added.equals(swept)
    assert read_spec(tmp_path / "added.zarr") == whole
