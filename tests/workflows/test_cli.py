from importlib.metadata import version

from click.testing import CliRunner

from pipeline.datasets import CONFIGURATIONS
from workflows.cli import main


def test_version_is_that_of_the_distribution() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.exit_code == 0
    assert version("imwk-sweep") in result.output


def test_every_command_has_a_help_text() -> None:
    for name, command in main.commands.items():
        assert command.help, name
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0
        assert command.help.split(".")[0] in result.output


def test_unknown_command_is_one_clean_error() -> None:
    result = CliRunner().invoke(main, ["qick"])
    assert result.exit_code == 2
    assert "No such command 'qick'" in result.output


def test_quick_shows_all_configurations() -> None:
    result = CliRunner().invoke(main, ["quick"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    rows = [line.split("│") for line in result.stdout.splitlines() if line.startswith("│")]
    assert [row[1].strip() for row in rows] == list(CONFIGURATIONS)
    assert all(-0.5 <= float(cell) <= 1 for row in rows for cell in row[2:6])
