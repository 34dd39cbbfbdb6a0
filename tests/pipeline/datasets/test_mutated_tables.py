"""300 damaged data files: each gives a table that can be clustered, or an error with the place."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from pipeline.datasets import TableError, read_table
from pipeline.execution.block import run_block
from pipeline.spec.blocks import Block
from pipeline.spec.sweep import Sweep

HEADER = ["size", "colour", "weight", "größe", "species"]
ROWS = [
    [f"{row * 0.5}", "red" if row % 3 else "blue", f"{row * row - 7}", f"{row % 4}", "ab"[row % 2]]
    for row in range(14)
]
GOOD = "\n".join(",".join(fields) for fields in [HEADER, *ROWS]).encode() + b"\n"

Mutation = Callable[[Random, list[bytes]], int | None]
"""Damages lines; returns the line that an error must name, if the damage is in one line."""


def some_line(rng: Random, lines: list[bytes], first: int = 1) -> int:
    return rng.randrange(min(first, len(lines) - 1), len(lines))


def put(lines: list[bytes], place: int, field: int, text: bytes) -> int:
    fields = lines[place].split(b",")
    fields[field % len(fields)] = text
    lines[place] = b",".join(fields)
    return place + 1


def ragged(rng: Random, lines: list[bytes]) -> int:
    place = some_line(rng, lines)
    more = lines[place] + b",1" * rng.randint(1, 3)
    lines[place] = more if rng.random() < 0.5 else lines[place].rpartition(b",")[0]
    return place + 1


def wrong_quotes(rng: Random, lines: list[bytes]) -> int:
    texts = [b'"a', b'"a"b', b'a"b', b'"', b'""', b'"""', b'"a,b"', b'"1"', b"'1'"]
    return put(lines, some_line(rng, lines), rng.randrange(4), rng.choice(texts))


def byte_order_mark(_: Random, lines: list[bytes]) -> None:
    lines[0] = b"\xef\xbb\xbf" + lines[0]


def other_encoding(rng: Random, lines: list[bytes]) -> int:
    return put(lines, some_line(rng, lines, 0), rng.randrange(4), "größe".encode("latin-1"))


def all_utf16(_: Random, lines: list[bytes]) -> None:
    lines[:] = [b"\n".join(lines).decode("utf-8", "replace").encode("utf-16")]


def strange_number(rng: Random, lines: list[bytes]) -> int:
    texts = [
        b"1e308",
        b"-1e308",
        b"1e999",
        b"inf",
        b"-Infinity",
        b"nan",
        b"1e-320",
        b"1_000",
        b"0x1",
    ]
    return put(lines, some_line(rng, lines), rng.randrange(4), rng.choice(texts))


def missing_value(rng: Random, lines: list[bytes]) -> int:
    texts = [b"", b"?", b"NA", b" ", b"null"]
    return put(lines, some_line(rng, lines), rng.randrange(4), rng.choice(texts))


def missing_label(rng: Random, lines: list[bytes]) -> int:
    return put(lines, some_line(rng, lines), -1, b"")


def empty(_: Random, lines: list[bytes]) -> None:
    lines.clear()


def header_only(_: Random, lines: list[bytes]) -> None:
    del lines[1:]


def no_header(_: Random, lines: list[bytes]) -> None:
    del lines[0]


def duplicate_name(rng: Random, lines: list[bytes]) -> int:
    return put(lines, 0, rng.randrange(4), b"species")


def no_name(rng: Random, lines: list[bytes]) -> int:
    return put(lines, 0, rng.randrange(4), b"")


def one_class(_: Random, lines: list[bytes]) -> None:
    for place in range(1, len(lines)):
        put(lines, place, -1, b"a")


def every_row_a_class(_: Random, lines: list[bytes]) -> None:
    for place in range(1, len(lines)):
        put(lines, place, -1, str(place).encode())


def constant_columns(_: Random, lines: list[bytes]) -> None:
    for place in range(1, len(lines)):
        for field in range(4):
            put(lines, place, field, b"7")


def other_line_ends(rng: Random, lines: list[bytes]) -> None:
    lines[:] = [line + rng.choice([b"\r", b"\r\n"[:1]]) for line in lines]


def other_separator(rng: Random, lines: list[bytes]) -> None:
    lines[:] = [line.replace(b",", rng.choice([b";", b"\t", b"|"])) for line in lines]


def null_byte(rng: Random, lines: list[bytes]) -> int:
    return put(lines, some_line(rng, lines), rng.randrange(4), b"1\0")


def huge_field(rng: Random, lines: list[bytes]) -> int:
    return put(lines, some_line(rng, lines), rng.randrange(4), b"9" * 200_000)


def identifiers(_: Random, lines: list[bytes]) -> None:
    for place in range(1, len(lines)):
        put(lines, place, 1, b"name %d" % place)


def random_bytes(rng: Random, lines: list[bytes]) -> None:
    place = some_line(rng, lines, 0)
    cut = rng.randrange(len(lines[place]) + 1)
    lines[place] = lines[place][:cut] + rng.randbytes(rng.randint(1, 4)) + lines[place][cut:]


def cut_off(rng: Random, lines: list[bytes]) -> None:
    lines[-1] = lines[-1][: rng.randrange(len(lines[-1]) + 1)]


MUTATIONS: tuple[Mutation, ...] = (
    ragged,
    wrong_quotes,
    byte_order_mark,
    other_encoding,
    all_utf16,
    strange_number,
    missing_value,
    missing_label,
    empty,
    header_only,
    no_header,
    duplicate_name,
    no_name,
    one_class,
    every_row_a_class,
    constant_columns,
    other_line_ends,
    other_separator,
    null_byte,
    huge_field,
    identifiers,
    random_bytes,
    cut_off,
)
#: Messages about a whole file or column, which have no line.
WITHOUT_LINE = re.compile(
    "is empty|no rows|all columns are constant|no columns to cluster|Unknown column|one class|"
    "more than 100|different values"
)


def damaged(seed: int) -> tuple[bytes, int | None]:
    """Return a file with one to three faults, and the line of a single fault."""
    rng = Random(seed)
    lines = GOOD.splitlines()
    count = 1 if seed % 2 else rng.randint(2, 3)
    place = None
    for mutate in [MUTATIONS[seed // 2 % len(MUTATIONS)], *rng.sample(MUTATIONS, count - 1)]:
        if lines:
            place = mutate(rng, lines)
    return b"\n".join(lines) + b"\n" * bool(lines), place if count == 1 else None


def assert_can_be_clustered(path: Path, missing: str) -> None:
    table = read_table(path, "species", missing=missing)
    assert np.isfinite(table.X).all()
    assert table.X.shape[1] == len(table.features)
    assert table.classes is not None
    sweep = Sweep.of({"damaged": table}, normalisations=["range"])
    run_block(sweep.spec, Block(sweep.spec.tiles[0], ("imwk",), (2.0,), ()), table)


@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_a_damaged_file_gives_a_table_or_an_error_with_the_place(
    missing: str, tmp_path: Path
) -> None:
    path, refused = tmp_path / "damaged.csv", 0
    for seed in range(300):
        content, line = damaged(seed)
        path.write_bytes(content)
        try:
            assert_can_be_clustered(path, missing)
        except TableError as error:
            refused += 1
            message = str(error)
            assert message.startswith(str(path)), (seed, message)
            assert re.search(r"line \d", message) or WITHOUT_LINE.search(message), (seed, message)
            if line and not WITHOUT_LINE.search(message):
                assert re.search(rf"line {line}\b", message), (seed, line, message)
    assert 100 < refused < 280  # neither all nor none


def test_the_file_is_valid_before_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "good.csv"
    path.write_bytes(GOOD)
    assert_can_be_clustered(path, "refuse")
    assert read_table(path, "species").X.shape == (14, 5)


def binary_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Write valid files with typed columns; yield each of them and its label."""
    numbers, labels = np.random.default_rng(0).random((30, 3)), ["a", "b"] * 15
    pd.DataFrame(numbers, columns=list("uvw")).assign(y=labels).to_parquet(folder / "my.parquet")
    yield folder / "my.parquet", "y"
    np.savez(folder / "my.npz", X=numbers, y=labels, feature_names=["u", "v", "w"])
    yield folder / "my.npz", "y"
    np.savez_compressed(folder / "small.npz", X=numbers, y=labels)
    yield folder / "small.npz", "y"


def test_damaged_binary_files_give_a_table_or_an_error_with_the_file(tmp_path: Path) -> None:
    for good, label in binary_files(tmp_path):
        content, damaged_file = good.read_bytes(), good.with_stem("damaged")
        refusals = []
        for seed in range(100):
            rng, changed = Random(seed), bytearray(content)
            for _ in range(rng.randint(1, 6)):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            damaged_file.write_bytes(changed[: rng.choice([None, rng.randrange(len(changed))])])
            try:
                read_table(damaged_file, label, missing="impute")
            except TableError as error:
                refusals.append(str(error))
        assert 50 < len(refusals) <= 100
        assert all(message.startswith(str(damaged_file)) for message in refusals)
