"""A file of a million rows is read with limited memory; a larger one is refused."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.datasets.tables.columns import MOST_ROWS

READ = """
from pathlib import Path
from sys import argv
from pipeline.datasets import TableError, read_table
try:
    print(read_table(argv[1], "species").X.shape)
except TableError as error:
    print(error.problem)
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def read(path: Path) -> tuple[str, float]:
    """Read in a new process; return what it prints, and its peak memory in megabytes."""
    child = subprocess.run(
        [sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True
    )
    printed, kilobytes = child.stdout.splitlines()
    return printed, int(kilobytes) * 1024 / 1e6


@pytest.mark.parametrize(
    ("name", "start", "unit", "problem"),
    [
        ("cells.data.gz", b"1 2\n", b"1 " * 20_000 + b"\n", "has 20000 fields"),
        ("line.csv.gz", b"a,b\n", b"9" * 40_000, "is too long"),
        ("names.csv.gz", b"", b"a," * 20_000, "is too long"),
        ("nulls.arff.gz", b"", bytes(40_000), "has a null character"),
    ],
)
def test_a_small_file_that_unpacks_to_much_fills_no_memory(
    name: str, start: bytes, unit: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(start + unit * 5_000))  # 200 MB
    assert path.stat().st_size < 500_000
    printed, megabytes = read(path)
    assert printed.startswith(problem)
    assert megabytes < 150


@pytest.mark.slow
def test_a_million_rows_are_read_within_memory(tmp_path: Path) -> None:
    path, rng = tmp_path / "large.csv", np.random.default_rng(0)
    with path.open("w") as file:
        file.write(f"{','.join(f'x{column}' for column in range(8))},colour,species\n")
        for _ in range(MOST_ROWS // 1000):
            numbers = rng.normal(size=(1000, 8)).round(6).tolist()
            file.writelines(
                f"{','.join(map(str, row))},{'red' if place % 3 else 'blue'},{place % 4}\n"
                for place, row in enumerate(numbers)
            )
    printed, megabytes = read(path)
    assert printed == "(1000000, 10)"
    assert megabytes < 400
    with path.open("a") as file:
        file.write("1,2,3,4,5,6,7,8,red,1\n")
    printed, megabytes = read(path)
    assert printed.startswith("has more than 1,000,000 rows")
    assert megabytes < 400
