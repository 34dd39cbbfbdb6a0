"""What is in the wheel, and that its core needs NumPy alone."""

import os
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import numpy as np
import pytest

from tests.faults import ROOT

pytestmark = pytest.mark.slow

PACKAGES = ("pipeline", "storage", "workflows")
CLUSTER = """
from pipeline.core import imwk
print(imwk([[0.0], [0.1], [1.0], [1.1]], k=2, p=1.5).labels.tolist())
"""


def pip(*arguments: object) -> None:
    offline = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    subprocess.run([sys.executable, "-m", "pip", *map(str, arguments), *offline], check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout, without network."""
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    (built,) = folder.iterdir()
    return built


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_has_all_files_of_the_packages_and_no_others(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    expected = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == expected
    endings = {Path(name).suffix for name in expected}
    assert endings == {".py", ".typed", ".csv", ".toml", ".js", ".css", ".html"}


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    facts = metadata(wheel)
    assert facts["License-Expression"] == "BSD-3-Clause"
    assert facts["Description-Content-Type"] == "text/markdown"
    assert facts.get_payload() == (ROOT / "README.md").read_text()
    required = [need for need in facts.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert not any(need.startswith(("bokeh", "jinja2", "matplotlib")) for need in required)


def test_the_core_runs_from_the_wheel_next_to_numpy_alone(wheel: Path, tmp_path: Path) -> None:
    pip("install", "--target", tmp_path, wheel)
    installed = Path(np.__file__).parents[1]
    for folder in installed.glob("numpy*"):  # on some systems its libraries lie beside it
        (tmp_path / folder.name).symlink_to(folder)
    done = subprocess.run(
        [sys.executable, "-S", "-c", CLUSTER],  # -S hides what this environment has installed
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[1, 1, 0, 0]\n", "")
