"""A spec file holds a sweep and, beside it, the batch system to run it on."""

from pathlib import Path

import pytest

from pipeline.errors import SpecError
from pipeline.spec.toml import parse_spec_file, read_spec_file, read_sweep
from tests.pipeline.specs import SMALL, document, small

TABLE = 'kind = "slurm"\njobs = 4\n'


@pytest.mark.parametrize("name", ["batch", "cluster"])
def test_one_parse_gives_the_sweep_and_the_batch_table(name: str) -> None:
    file = parse_spec_file(f"{document(SMALL)}[{name}]\n{TABLE}", "sweep.toml")
    assert (file.batch_name, file.batch) == (name, {"kind": "slurm", "jobs": 4})
    assert file.sweep.spec.fingerprint == small().fingerprint


def test_a_file_without_a_batch_table_has_an_empty_one() -> None:
    assert parse_spec_file(document(SMALL), "sweep.toml").batch == {}


def test_both_names_of_the_batch_table_are_refused_with_the_source(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(f"{document(SMALL)}[batch]\n{TABLE}[cluster]\n{TABLE}")
    with pytest.raises(SpecError) as caught:
        read_spec_file(file)
    assert str(caught.value) == (
        f"{file}: [cluster] is the old name of [batch]. Give one of them, not both."
    )


@pytest.mark.parametrize("name", ["batch", "cluster"])
def test_a_batch_table_that_is_a_value_is_refused(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec_file(f'{name} = "slurm"\n{document(SMALL)}', "sweep.toml")
    assert str(caught.value) == f'sweep.toml: {name} = "slurm": give a table [{name}].'


def test_relative_paths_of_data_start_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("a,b\n1,2\n3,5\n9,1\n")
    file = tmp_path / "own.toml"
    file.write_text(document({"datasets": {"tables": {"mine": {"file": "my.csv", "k": 2}}}}))
    assert read_spec_file(file).sweep.spec.configs == ("mine",)
    assert read_sweep(file).spec == read_spec_file(file).sweep.spec
