"""The command that ranks features: its table, its JSON, its picture, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.datasets import make_table
from pipeline.spec.sweep import Sweep
from storage import ranked_features
from tests.workflows.cli.small import sweep
from tests.workflows.commands import assert_refused, imwk, output_of
from tests.workflows.plots.pixels import pixels_of
from workflows import submit
from workflows.plots.features import MOST_FEATURES, draw_features

NOISY = "1000x6-3 +3NF"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of two configurations that keeps weights."""
    location = tmp_path_factory.mktemp("features") / "cube.zarr"
    spec = sweep(keep=["weights"]).model_dump()
    spec["datasets"] = {"synthetic": {"configs": [NOISY, "1000x6-3"], "count": 1}}
    submit(type(sweep()).model_validate(spec), location, workers=0)
    return location


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of a table with more features than are shown."""
    location = tmp_path_factory.mktemp("features") / "wide.zarr"
    X = np.random.default_rng(1).normal(size=(30, MOST_FEATURES + 5))
    keys: dict[str, Any] = {"normalisations": ["range"], "parts": ["imwk"], "p1": [2]}
    submit(Sweep.of({"wide": make_table(X)}, k=2, **keys), location, workers=0)
    return location


def test_the_table_has_the_ranking_and_the_share_of_noise(noisy: Path) -> None:
    text = output_of("features", noisy, "--config", NOISY)
    found = ranked_features(noisy, config=NOISY)
    rows = [line.split() for line in text.splitlines() if line[:6].strip().isdigit()]
    assert [int(row[1]) for row in rows] == found.feature.values.tolist()
    assert [row[-3] for row in rows] == [f"{value:.4f}" for value in found["median"].values]
    assert [row[2] == "(noise)" for row in rows] == found.noise.values.tolist()
    share = found.noise_last.item()
    assert f"{share:.0%} of the noise features are in the last 3 places." in text
    assert "noise" not in output_of("features", noisy, "--config", "1000x6-3")


def test_json_has_all_configurations_and_all_digits(noisy: Path) -> None:
    clean, facts = json.loads(output_of("features", noisy, "--json", "--normalisation", "range"))
    assert (clean["config"], facts["config"]) == ("1000x6-3", NOISY)
    found = ranked_features(noisy, config=NOISY)
    for row, feature in zip(facts["features"], found.feature.values, strict=True):
        here = found.sel(feature=feature)
        assert row == {
            "feature": feature,
            **{name: here[name].item() for name in ("median", "lower", "upper", "noise")},
        }
    assert facts["noise_last"] == found.noise_last.item()
    assert "noise_last" not in clean


def test_long_tables_say_what_they_leave_out(wide: Path) -> None:
    text = output_of("features", wide)
    assert "25 more features are not shown. Print all with --json." in text
    (facts,) = json.loads(output_of("features", wide, "--json"))
    assert len(facts["features"]) == MOST_FEATURES + 5


def test_the_picture_has_a_dot_at_every_median(noisy: Path, tmp_path: Path) -> None:
    file = tmp_path / "features.png"
    assert output_of("features", noisy, "-o", file).splitlines()[-1] == str(file)
    ranked = [ranked_features(noisy, config=config) for config in ("1000x6-3", NOISY)]
    figure = draw_features(ranked)
    np.testing.assert_array_equal(pixels_of(file.read_bytes()), pixels_of(figure))
    for axes, each in zip(figure.axes, ranked, strict=True):
        dots = np.asarray(axes.collections[1].get_offsets())
        np.testing.assert_allclose(dots[:, 0], each["median"])
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert names == [str(feature) for feature in each.feature.values]
        assert axes.get_title() == each.config.item()
        assert (axes.get_legend() is not None) == ("noise" in each.coords)


def test_a_picture_of_many_features_says_that_it_is_cut(wide: Path) -> None:
    (axes,) = draw_features([ranked_features(wide)]).axes
    assert axes.get_title() == f"wide: the first {MOST_FEATURES} of {MOST_FEATURES + 5} features"
    assert len(axes.get_yticklabels()) == MOST_FEATURES


def test_mistakes_are_refused(noisy: Path, cube: Path, tmp_path: Path) -> None:
    assert_refused(imwk("features", cube), "has no weights", 'keep = ["labels", "weights"]')
    assert_refused(imwk("features", noisy, "--config", "none"), "none", NOISY)
    assert_refused(imwk("features", noisy, "-o", tmp_path / "a.gif"), ".png, .svg or .pdf")
    assert not list(tmp_path.glob("a.*"))
