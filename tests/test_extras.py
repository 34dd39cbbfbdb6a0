"""Features whose optional package is missing say what to install; everything else works."""

import re
import subprocess
import sys
import tomllib

import pytest

from pipeline.errors import MissingExtraError, requires_extra
from tests.faults import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: The modules of all optional packages. Jinja2 is not among them: Dask needs it too.
OPTIONAL = (
    "bokeh",
    "cryptography",
    "dask_jobqueue",
    "matplotlib",
    "obstore",
    "pooch",
    "pyarrow",
    "sklearn",
)
#: What needs one of them as soon as it is imported.
NEEDY = (
    "pipeline.estimators",
    "storage.backends.object",
    "workflows.plots",
    "workflows.report",
)
PREAMBLE = "import sys\nfor module in {!r}: sys.modules[module] = None\n"

IMPORT_ALL = f"""
from importlib import import_module
from pkgutil import walk_packages
import pipeline, storage, workflows
needy = {NEEDY!r}
for package in (pipeline, storage, workflows):
    skipped = lambda name: None if name.startswith(needy) else sys.exit(f"{{name}} fails")
    for module in walk_packages(package.__path__, package.__name__ + ".", onerror=skipped):
        if not module.name.startswith(needy):
            import_module(module.name)
"""

SWEEP = """
from workflows import submit
from pipeline.spec import SweepSpec
data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[2])
print(submit(spec, sys.argv[1], workers=0).done)
"""

COMMAND = """
from workflows.cli.main import main
main()
"""


def run_without(modules: tuple[str, ...], code: str, *arguments: str) -> tuple[int, str]:
    """Run code in a process that cannot import some modules."""
    command = [sys.executable, "-c", PREAMBLE.format(modules) + code, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )
    return done.returncode, done.stdout + done.stderr


def test_all_other_modules_can_be_imported_without_any_extra() -> None:
    assert run_without(OPTIONAL, IMPORT_ALL) == (0, "")


def test_a_sweep_runs_without_any_extra(tmp_path: object) -> None:
    assert run_without(OPTIONAL, SWEEP, f"{tmp_path}/cube.zarr") == (0, "1\n")


@pytest.mark.parametrize(
    ("missing", "arguments", "message"),
    [
        ("matplotlib", "heatmaps c.zarr -o pictures", "Drawing needs Matplotlib: plots"),
        ("matplotlib", "curves c.zarr -o pictures", "Drawing needs Matplotlib: plots"),
        ("matplotlib", "scatter 1000x6-3 -o a.png", "Drawing needs Matplotlib: plots"),
        ("matplotlib", "report c.zarr", "The report needs Bokeh and Matplotlib: report"),
        ("bokeh", "report c.zarr", "The report needs Bokeh and Matplotlib: report"),
    ],
)
def test_a_command_without_its_extra_ends_in_one_line(
    missing: str, arguments: str, message: str
) -> None:
    need, extra = message.split(": ")
    said = f"Error: {need}: pip install 'imwk-sweep[{extra}]'\n"
    assert run_without((missing,), COMMAND, *arguments.split()) == (2, said)


def test_the_error_is_an_import_error_too_and_keeps_its_cause() -> None:
    with (
        pytest.raises(ImportError, match=r"A: pip install 'imwk-sweep\[x\]'. Or B.") as caught,
        requires_extra("x", "A", "Or B."),
    ):
        raise ModuleNotFoundError("No module named 'x'")
    assert isinstance(caught.value, MissingExtraError)
    assert str(caught.value.__cause__) == "No module named 'x'"


def test_every_extra_that_a_message_names_exists() -> None:
    sources = "".join(
        file.read_text()
        for package in ("pipeline", "storage", "workflows")
        for file in (ROOT / package).rglob("*.py")
    )
    named = re.findall(r"imwk-sweep\[(\w+)\]|requires_extra\(\s*\"(\w+)\"", sources)
    assert {extra for pair in named for extra in pair if extra} == set(EXTRAS) - {"all"}


def test_the_extra_all_has_all_others() -> None:
    (everything,) = EXTRAS["all"]
    assert everything == f"imwk-sweep[{','.join(sorted(set(EXTRAS) - {'all'}))}]"
