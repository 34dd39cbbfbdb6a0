"""The group of all commands: help texts, exit codes, errors, and what is imported."""

import errno
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from tests.faults import ROOT
from tests.own_tables import small_table
from tests.own_tables import written as written_table
from tests.workflows.commands import imwk
from workflows.cli.main import main

README = (ROOT / "README.md").read_text()
#: Packages that commands without a cube must not wait for.
STORAGE = {"dask", "distributed", "xarray", "zarr"}


def test_version_is_that_of_the_distribution() -> None:
    result = imwk("--version")
    assert result.exit_code == 0
    assert version("imwk-sweep") in result.output


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_a_help_text_and_is_in_the_readme(name: str) -> None:
    command = main.commands[name]
    result = imwk(name, "--help")
    assert result.exit_code == 0
    assert command.help
    assert command.help.split(".")[0].split("\n")[0] in result.output
    assert f"imwk {name}" in README


def all_commands(group: click.Group = main) -> list[click.Command]:
    found = []
    for command in group.commands.values():
        found += all_commands(command) if isinstance(command, click.Group) else [command]
    return found


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_help_texts_are_sentences(command: click.Command) -> None:
    options = [option for option in command.params if isinstance(option, click.Option)]
    texts = [option.help or "" for option in options if not option.hidden]
    for text in [str(command.help), *texts]:
        sentences = text.strip().removesuffix("  [required]")
        assert re.fullmatch(r"[A-Z].*\.", sentences, re.DOTALL), text


def test_the_list_of_commands_cuts_no_help_text() -> None:
    lines = imwk("--help", COLUMNS="80").output.splitlines()
    for command in main.commands.values():
        (line,) = [each for each in lines if each.startswith(f"  {command.name} ")]
        assert line.endswith("."), line
        assert not line.endswith("...")


def test_files_are_written_to_output() -> None:
    names = ("heatmaps", "curves", "scatter", "report", "export", "cluster")
    for name in names:
        options = [option.opts for option in main.commands[name].params]
        assert ["-o", "--output"] in options, name


def test_exit_codes_are_in_help_and_readme() -> None:
    text = imwk("--help").output
    for code in ("0", "1", "2", "3", "4", "70", "130"):
        assert re.search(rf"^ +{code} ", text, re.MULTILINE)
        assert f"| {code} |" in README


def test_a_bug_has_an_exit_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: str) -> str:
        raise KeyError("a bug")

    monkeypatch.setattr("workflows.presets.preset_text", wrong)
    result = imwk("presets", "quick")
    assert result.exit_code == 70
    assert "Traceback" in result.stderr
    assert "KeyError: 'a bug'" in result.stderr
    assert "Please report it" in result.stderr


def test_a_closed_pipe_is_not_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_: str) -> str:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("workflows.presets.preset_text", closed)
    result = imwk("presets", "quick")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr


def test_an_unknown_command_is_an_error() -> None:
    result = imwk("qick")
    assert result.exit_code == 2
    assert "No such command 'qick'" in result.output


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written_table(small_table(), tmp_path / "my.csv")


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], {"numpy", "pandas", "matplotlib", "pydantic", *STORAGE}),
        (["cluster", "--help"], {"numpy", "pandas", "matplotlib", "pydantic", *STORAGE}),
        (["cluster", "TABLE", "--k", "3", "-o", "LABELS"], {"matplotlib", *STORAGE}),
        (["presets"], {"dask", "distributed", "zarr"}),
        (["status", "CUBE"], {"distributed", "matplotlib"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_load_only_what_they_need(
    arguments: list[str], heavy: set[str], cube: Path, table: Path
) -> None:
    files = {"CUBE": cube, "TABLE": table, "LABELS": table.with_name("labels.csv")}
    given = [str(files.get(argument, argument)) for argument in arguments]
    program = (
        "import sys; from workflows.cli.main import main; "
        f"main({given!r}, standalone_mode=False); "
        f"loaded = {heavy!r} & set(sys.modules); assert not loaded, loaded"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert files["LABELS"].exists() == ("LABELS" in arguments)
