import ast
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
