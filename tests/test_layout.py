"""The layout of the code: small functions, small modules, small folders, all of them in the docs.

`make check` runs this file. Import contracts are proved there by import-linter, and docstrings of
public functions by ruff (rules D).
"""

import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.faults import ROOT

PACKAGES = ("pipeline", "storage", "workflows")
OTHERS = ("benchmarks", "examples", "tests")
MOST_MODULES, MOST_LINES, LONGEST_BODY, MEDIAN_BODY = 16, 350, 40, 6


def python_files(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def shown(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def modules() -> list[str]:
    """Return the modules of the three packages; a folder's own ``__init__.py`` is not counted."""
    return [shown(file) for file in python_files(*PACKAGES) if file.name != "__init__.py"]


def bodies(*folders: str) -> Iterator[tuple[int, str]]:
    """Yield the number of lines of each function without its docstring, and its name."""
    for file in python_files(*folders):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield body_lines(node), f"{shown(file)}:{node.lineno} {node.name}"


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    has_more = ast.get_docstring(function) is not None and len(function.body) > 1
    first = function.body[1] if has_more else function.body[0]
    return (function.end_lineno or 0) - first.lineno + 1


def names_in_design() -> set[str]:
    """Return the files in the table of docs/design.md.

    The first cell of a row has one or more names; a name without a folder is in the folder of the
    name before it.
    """
    found = set()
    for row in (ROOT / "docs" / "design.md").read_text().splitlines():
        if not row.startswith("| `"):
            continue
        folder = PurePosixPath()
        for name in re.findall(r"`([^`]+)`", row.split(" | ")[0]):
            path = PurePosixPath(name) if "/" in name else folder / name
            folder = path.parent
            found.add(f"{path}/" if name.endswith("/") else str(path))
    return found


def test_a_folder_has_no_more_modules_than_one_can_survey() -> None:
    counts = Counter(name.rpartition("/")[0] for name in modules())
    assert {folder: n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_no_module_is_too_long_to_read_at_once() -> None:
    lines = {
        shown(file): file.read_text().count("\n") + 1
        for file in python_files(*PACKAGES, "benchmarks", "examples")
    }
    assert {name: n for name, n in lines.items() if n > MOST_LINES} == {}


def test_no_function_body_is_long() -> None:
    assert [each for each in bodies(*PACKAGES, *OTHERS) if each[0] > LONGEST_BODY] == []


def test_most_function_bodies_are_short() -> None:
    assert statistics.median(lines for lines, _ in bodies(*PACKAGES)) <= MEDIAN_BODY


def test_every_module_is_in_the_table_of_docs_design() -> None:
    missing = sorted(set(modules()) - names_in_design())
    assert not missing, f"add to the table: {', '.join(missing)}"


def test_the_table_of_docs_design_names_only_files_that_exist() -> None:
    stale = sorted(name for name in names_in_design() if not (ROOT / name).exists())
    assert not stale, f"remove from the table: {', '.join(stale)}"
