"""200 damaged files of each format of the field: a table, or an error with the file and the place.

Damage is done to the bytes of a file, and to the text in it before it is packed.
"""

import gzip
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.io import savemat

from pipeline.datasets import TableError, read_table

COUNT = 200
CLASSES = np.arange(24) % 3 + 1
X = np.random.default_rng(0).normal(size=(24, 4)).round(4) + CLASSES[:, np.newaxis]
ROWS = [[*map(str, row), "abc"[place % 3]] for place, row in enumerate(X.tolist())]
HEADER = ["size", "weight", "age", "größe", "species"]

Damage = Callable[[Random, bytes], bytes]


def lines_of(*rows: list[str], separator: str = ",") -> bytes:
    return "".join(f"{separator.join(row)}\n" for row in rows).encode()


def arff() -> bytes:
    header = [f"@attribute '{name}' real\n" for name in HEADER[:-1]]
    text = "".join(["% made up\n@relation r\n", *header, "@attribute species {a,'b',c}\n@data\n"])
    return text.encode() + lines_of(*ROWS)


def mat(compressed: bool) -> bytes:
    file = io.BytesIO()
    savemat(file, {"X": X, "species": CLASSES, "s": {"a": 1}}, do_compression=compressed)
    return file.getvalue()


MATRIX = lines_of(*(row[:-1] for row in ROWS), separator=" ")
LABELS = "".join(f"{label if place % 5 else 0}\n" for place, label in enumerate(CLASSES)).encode()


def flipped(rng: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut_off(rng: Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def some(rng: Random, content: bytes) -> tuple[int, int]:
    first = rng.randrange(len(content))
    return first, min(len(content), first + rng.randint(1, 200))


def without_some(rng: Random, content: bytes) -> bytes:
    first, last = some(rng, content)
    return content[:first] + content[last:]


def doubled(rng: Random, content: bytes) -> bytes:
    first, last = some(rng, content)
    return content[:last] + content[first:]


def inserted(rng: Random, content: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    texts = [b"\0", b"\xff\xfe", b"1e999", b"'", b'"', b",", b" ", b"{", b"\n\n", b"@data\n", b"%#"]
    return content[:place] + rng.choice([*texts, rng.randbytes(9)]) + content[place:]


def wrong_row(rng: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    place = rng.randrange(len(lines))
    damages: list[Callable[[bytes], bytes]] = [
        lambda line: line.rstrip() + b",1\n",
        lambda line: line.rstrip() + b" 1\n",
        lambda line: re.split(rb"[ ,]", line, maxsplit=1)[-1],
        lambda line: line + line,
        lambda line: line[:0],
        lambda line: re.sub(rb"\d+", b"x", line, count=1),
        lambda line: re.sub(rb"\d+", b"?", line, count=1),
        lambda line: re.sub(rb"\d+", b"-7", line, count=1),
    ]
    lines[place] = rng.choice(damages)(lines[place])
    return b"".join(lines)


BYTES: tuple[Damage, ...] = (flipped, cut_off, without_some, doubled)
TEXT: tuple[Damage, ...] = (*BYTES, inserted, wrong_row, wrong_row)


@dataclass(frozen=True)
class Format:
    """A format: the file, its content, its label, and the file that is damaged."""

    name: str
    content: bytes
    label: str
    header: bool = True
    text: bool = True
    #: If given, this file is damaged in place of the first.
    beside: tuple[str, bytes] | None = None

    def write(self, folder: Path, rng: Random | None) -> Path:
        """Write the files, one of them damaged if there is a random generator."""
        name, content = self.beside or (self.name, self.content)
        if self.beside:
            put(folder / self.name, self.content, self.text)
        if rng is not None and self.text and rng.random() < 0.6:
            content = rng.choice(TEXT)(rng, content)
        elif rng is not None:
            put(folder / name, content, self.text)
            damaged = rng.choice(BYTES)(rng, (folder / name).read_bytes())
            (folder / name).write_bytes(damaged)
            return folder / self.name
        put(folder / name, content, self.text)
        return folder / self.name


def put(path: Path, content: bytes, text: bool) -> None:
    pack = text and path.suffix == ".gz"
    path.write_bytes(gzip.compress(content, mtime=0) if pack else content)


FORMATS = {
    "headerless CSV": Format("my.csv", lines_of(*ROWS), "x5", header=False),
    "headerless TSV": Format("my.tsv", lines_of(*ROWS, separator="\t"), "x5", header=False),
    "packed CSV": Format("my.csv.gz", lines_of(HEADER, *ROWS), "species"),
    "matrix of a battery": Format("my.data.gz", MATRIX, ""),
    "labels of a battery": Format(
        "my.data.gz", MATRIX, "labels0", beside=("my.labels0.gz", LABELS)
    ),
    "ARFF": Format("my.arff", arff(), "species"),
    "packed ARFF": Format("my.arff.gz", arff(), "species"),
    "MATLAB": Format("my.mat", mat(compressed=False), "species", text=False),
    "packed MATLAB": Format("my.mat", mat(compressed=True), "species", text=False),
}

#: Messages about a whole file or column, which have no line.
WITHOUT_LINE = re.compile(
    "is empty|no rows|all columns are constant|no columns to cluster|Unknown column|one class|"
    "more than 100|different values|cannot be unpacked|has no @data|two columns have|labels, but|"
    "noise points only"
)


def read(path: Path, each: Format) -> None:
    table = read_table(path, each.label or None, missing="impute", header=each.header)
    assert np.isfinite(table.X).all()
    assert table.X.shape[1] == len(table.features)
    assert (table.class_count or 2) >= 2


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_valid_before_it_is_damaged(name: str, tmp_path: Path) -> None:
    read(FORMATS[name].write(tmp_path, None), FORMATS[name])


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_gives_a_table_or_an_error_with_the_place(name: str, tmp_path: Path) -> None:
    each, refused = FORMATS[name], 0
    for seed in range(COUNT):
        path = each.write(tmp_path, Random(seed))
        try:
            read(path, each)
        except TableError as error:
            refused += 1
            message = str(error)
            assert message.startswith(str(tmp_path / "my.")), (seed, message)
            placed = re.search(r"line \d", message) or WITHOUT_LINE.search(message)
            assert placed or not each.text, (seed, message)
    assert 40 < refused <= COUNT - bool(each.text)  # neither none nor all
