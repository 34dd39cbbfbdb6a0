"""Data sets of plug-in generators in a spec."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import PluginError, SpecError, SweepSpec, register_generator
from pipeline.execution.block import original_data
from pipeline.spec.toml import parse_spec_file
from storage import CubeMismatchError, create_cube, extend_cube

TEXT = """
normalisations = ["range"]
[datasets.plugin.near]
generator = "blobs"
count = 3
parameters = {n = 40, centres = [0.0, 5.0]}
"""


def blobs(seed: int, n: int, centres: list[float]) -> tuple[Any, Any]:
    y = np.arange(n) % len(centres)
    return np.random.default_rng(seed).normal(size=(n, 2)) + np.array(centres)[y, None], y


@pytest.fixture(autouse=True)
def registered() -> None:
    register_generator("blobs", blobs, version="1")


def parsed(text: str = TEXT) -> SweepSpec:
    return parse_spec_file(text, "spec.toml").sweep.spec


def test_shape_and_classes_are_those_of_the_first_data_set() -> None:
    spec = parsed()
    assert spec.shape("near") == (40, 2, 2)
    assert spec.dataset_count("near") == len(spec.tiles) == 3
    assert parsed(spec.to_toml()) == spec
    assert parsed(TEXT + "k = 5").shape("near") == (40, 2, 5)


def test_data_sets_differ_and_depend_on_seed_and_coordinates_only() -> None:
    spec = parsed()
    first, second = (original_data(spec, tile)[0] for tile in spec.tiles[:2])
    assert not np.array_equal(first, second)
    more = parsed(TEXT.replace("count = 3", "count = 9"))
    np.testing.assert_array_equal(original_data(more, more.tiles[1])[0], second)
    other = parsed(f"seed = 7\n{TEXT}")
    assert not np.array_equal(original_data(other, other.tiles[0])[0], first)


def test_parameters_and_versions_are_part_of_the_fingerprint() -> None:
    prints = {parsed().fingerprint, parsed(TEXT.replace("n = 40", "n = 41")).fingerprint}
    register_generator("blobs", blobs, version="2")
    assert len(prints | {parsed().fingerprint}) == 3


def test_a_cube_grows_by_data_sets_but_not_by_other_parameters(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", parsed())
    extend_cube(tmp_path / "cube.zarr", parsed(TEXT.replace("count = 3", "count = 5")))
    with pytest.raises(CubeMismatchError, match=r"datasets.plugin.near: .*centres = \[0.0, 5.0\]"):
        extend_cube(
            tmp_path / "cube.zarr",
            parsed(TEXT.replace("5.0", "6.0").replace("count = 3", "count = 5")),
        )


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda _: np.zeros((3, 2)), "failed with ValueError: too many values to unpack"),
        (lambda _: ([[np.nan]], [0]), "returned no data: its result contains nan"),
        (lambda _: ([[1.0], [2.0]], [0]), r"returned classes of the shape \(1,\), not \(2,\)"),
        (lambda _: ([[1.0]], [None]), "returned no classes"),
        (lambda _: 1 / 0, "failed with ZeroDivisionError"),
    ],
)
def test_a_generator_that_fails_is_named(made: Any, words: str) -> None:
    register_generator("faulty", made, version="1")
    with pytest.raises(PluginError, match=rf"^The generator 'faulty' .*{words}"):
        parsed('[datasets.plugin.x]\ngenerator = "faulty"\ncount = 1\n')


def test_all_data_sets_must_have_the_shape_of_the_first() -> None:
    def ragged(seed: int) -> tuple[Any, Any]:
        rows = seed % 50 + 2
        return np.ones((rows, 1)), [0] * rows

    register_generator("ragged", ragged, version="1")
    spec = parsed('[datasets.plugin.x]\ngenerator = "ragged"\ncount = 2\n')
    with pytest.raises(PluginError, match=r"made data set 1 of x with the shape .* the same\."):
        original_data(spec, spec.tiles[-1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('generator = "blob"\ncount = 1', 'x.generator = "blob": no generator of this name'),
        ('generator = "os:system"\ncount = 1', "no generator of this name"),
        ('generator = "blobs"\nparameters = {n = 4, centres = [1]}', "x.count: is missing"),
        ('generator = ["blobs"]\ncount = 1', "x.generator"),
        ('generator = "blobs"\ncount = 1\nparameters = 3', "x.parameters"),
    ],
)
def test_wrong_keys_are_named(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        parsed(f"[datasets.plugin.x]\n{text}\n")


@pytest.mark.parametrize("value", ["nan", "inf", "[0.0, -inf]", "1979-05-27", "{a = 1}"])
def test_parameters_that_a_cube_cannot_store_are_refused(value: str) -> None:
    register_generator("any", lambda *_, **__: ([[0.0], [1.0]], [0, 1]), version="1")
    text = TEXT.replace("blobs", "any").replace("n = 40", f"n = {value}")
    with pytest.raises(SpecError, match=r"parameters .*n must be a text, true, false or a finite"):
        parsed(text)
