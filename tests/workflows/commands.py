"""Run the command `imwk` in the process of the tests."""

from click.testing import CliRunner, Result

from workflows.cli.main import main


def imwk(*arguments: object, **environment: str) -> Result:
    """Run a command; return its exit code and output."""
    return CliRunner().invoke(main, list(map(str, arguments)), env=environment)


def output_of(*arguments: object, **environment: str) -> str:
    """Run a command that must succeed; return its standard output."""
    result = imwk(*arguments, **environment)
    assert result.exit_code == 0, result.output
    return result.stdout


def assert_refused(result: Result, *words: str) -> None:
    """Check that a command ended with a message, not with a traceback."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    message = " ".join(result.stderr.split())
    assert "Error: " in message
    for word in words:
        assert word in message
