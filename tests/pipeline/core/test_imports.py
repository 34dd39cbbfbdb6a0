"""The core needs NumPy and the standard library, and loads nothing else."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline.core

FILES = sorted(Path(str(pipeline.core.__file__)).parent.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_core_imports_numpy_and_the_standard_library_only(file: Path) -> None:
    allowed = {*sys.stdlib_module_names, "numpy"}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            assert name.split(".")[0] in allowed or name.startswith("pipeline.core"), name


def modules_loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a fresh interpreter."""
    code = (
        "import json, sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_core_loads_numpy_alone() -> None:
    loaded = modules_loaded_by("import pipeline.core") - modules_loaded_by("import numpy.random")
    packages = {name.split(".")[0] for name in loaded}
    assert packages - set(sys.stdlib_module_names) <= {"pipeline", "numpy"}
    rooms = {name.split(".")[1] for name in loaded if name.startswith("pipeline.")}
    assert rooms == {"core"}
