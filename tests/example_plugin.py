"""The example package with plug-ins, installed into a folder that processes may be given."""

import os
import subprocess
import sys
from pathlib import Path

from pipeline.spec import SweepSpec
from tests.faults import ROOT

PACKAGE = ROOT / "examples" / "imwk-example-plugin"
#: A spec as people write it: names of plug-ins, and nothing else about them.
SPEC = """
normalisations = ["rank", "range"]
clusterers = ["k-medoids"]
scores = ["compactness"]
parts = ["imwk", "rescaled_kmeans"]
restarts = 2
p1 = [2]
p2 = [2]
[datasets.tables.blobs]
file = "blobs.csv"
label = "class"
"""
ROWS = [(0, 0, "a"), (1, 1, "a"), (2, 0, "a"), (9, 8, "b"), (8, 9, "b"), (9, 9, "b"), (7, 8, "b")]


def install(folder: Path, package: Path = PACKAGE) -> Path:
    """Install a package into a folder, without network; return the folder."""
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    quiet = ("--quiet", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *quiet, *offline]
    subprocess.run([*command, "--target", str(folder), str(package)], check=True)
    return folder


def having(folder: Path) -> dict[str, str]:
    """Return the environment of a process that has what is installed in a folder."""
    return os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}


def write_spec(folder: Path, text: str = SPEC) -> Path:
    """Write a spec and its table into a folder; return the spec's path."""
    rows = "\n".join(f"{x},{y},{name}" for x, y, name in ROWS)
    (folder / "blobs.csv").write_text(f"x,y,class\n{rows}\n")
    spec = folder / "spec.toml"
    spec.write_text(text)
    return spec


def recorded_spec(**keys: object) -> SweepSpec:
    """Return a spec with the records of a clusterer that no process has."""
    facts = {"kind": "clusterer", "name": "absent", "version": "2.1", "distribution": "imwk-absent"}
    data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    given = {"datasets": data, "normalisations": ["range"], "parts": ["kmeans"], "restarts": 2}
    given |= {"p1": [2], "p2": [2], "clusterers": ["absent"], "plugins": [facts]}
    return SweepSpec.model_validate(given | keys)
