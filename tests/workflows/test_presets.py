from pathlib import Path

import pytest

from pipeline.core import ImwkError
from pipeline.datasets import CONFIGURATIONS
from pipeline.errors import SpecError
from workflows import presets
from workflows.presets import PRESETS, preset_text
from workflows.spec_files import load_sweep


def test_every_preset_file_is_listed() -> None:
    folder = Path(str(presets.__file__)).parent
    assert {file.stem for file in folder.glob("*.toml")} == set(PRESETS)


def test_the_papers_preset_is_600_x_4_x_40_x_40_x_100() -> None:
    spec = load_sweep("paper").spec
    assert len(spec.tiles) == 600 * 4
    assert len(spec.p1) == len(spec.p2) == 40
    assert spec.restarts == 100


def test_the_quick_preset_has_every_configuration_in_range_and_z_score() -> None:
    spec = load_sweep("quick").spec
    assert spec.configs == tuple(CONFIGURATIONS)
    assert set(spec.normalisations) == {"range", "z-score"}
    assert set(spec.p1) <= set(load_sweep("paper").spec.p1)


@pytest.mark.parametrize("name", ["quick", "paper"])
def test_a_preset_saved_as_a_file_is_the_same_spec(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(preset_text(name))
    assert load_sweep(file).spec == load_sweep(name).spec


def test_an_unknown_name_lists_the_presets() -> None:
    with pytest.raises(
        SpecError, match=r"papper: is neither a file nor a preset\. The presets are quick"
    ):
        load_sweep("papper")
    with pytest.raises(ImwkError, match="Did you mean 'paper'"):
        preset_text("papper")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SpecError, match=r"^no/such\.toml: cannot be read: No such file"):
        load_sweep("no/such.toml")
