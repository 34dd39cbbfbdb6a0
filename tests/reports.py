"""Pages of `imwk report` for tests, and functions that read them without a browser."""

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import DTypeLike, NDArray

from pipeline.spec import Tile
from storage import Ledger, Provenance, Status
from tests.storage.grids import cube_of
from tests.storage.made_up import small_spec
from workflows.report import report_page

#: Names that a user may give to data, by mistake or on purpose.
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"><img src=x onerror="window.hacked = 3">',
    "'><svg onload='window.hacked = 4'>",
    "</option></select><iframe src='javascript:parent.hacked = 5'></iframe>",
    "</title><body onload=window.hacked=6>",
    "</style><style>* { display: none }</style>",
    "<!-- <script>",
    "]]></script>",
    "javascript:window.hacked=7",
    "{{ 7 * 7 }} {% raw %} ${window.hacked = 8}",
    "`${window.hacked = 9}`",
    "\\u003cscript\\u003e \\x3c \\",
    "line\u2028separator\u2029paragraph",
    "&lt;b&gt; &amp;amp; &#60;",
    "\u202eright to left override",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "\U0001f469\u200d\U0001f52c \u2605 e\u0301\u0302\u0303",
    "w" * 2000,
    "tab\tnew\nline 'single' \"double\" <b>",
)


class _Reader(HTMLParser):
    """A parser that collects the tags of a page, the content of its scripts, and its other text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.texts: list[str] = []
        self._open: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self._open = dict(attrs) if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's interface
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is None:
            self.texts.append(data)
        else:
            self.scripts.append((self._open, data))


def read_page(page: str) -> _Reader:
    """Parse a page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader


def data_of(page: str) -> dict[str, Any]:
    """Return the data of the scripts of a page."""
    (found,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    data: dict[str, Any] = json.loads(found)
    return data


def unpacked(text: str, dtype: DTypeLike) -> NDArray[Any]:
    """Return the array of a text that `packed` made, flattened."""
    kind = np.dtype(dtype).newbyteorder("<")
    ranks = np.frombuffer(zlib.decompress(b64decode(text)), dtype=np.uint8)
    return np.ascontiguousarray(ranks.reshape(kind.itemsize, -1).T).view(kind).ravel()


def pictures(results: Sequence[Mapping[str, Any]], name: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the places and pictures of a result."""
    (result,) = [result for result in results if result["name"] == name]
    for config, row in enumerate(result["pictures"]):
        for normalisation, picture in enumerate(row):
            yield config, normalisation, picture


def named_cube(configs: Sequence[str]) -> xr.Dataset:
    """Return a cube in memory, in which one data set of each configuration is done."""
    rng = np.random.default_rng(5)
    return cube_of(
        {
            "kmeans_ari": rng.uniform(0, 1, (len(configs), 1, 2, 4)),
            "rescaled_imwk_ari": rng.uniform(0, 1, (len(configs), 1, 2, 3, 2)),
        },
        configs=configs,
        p1=[1.1, 1.4, 2.0],
        p2=[1.5, 3.0],
        restart=np.arange(4),
    )


def named_page(names: Sequence[str]) -> str:
    """Return the page of a cube in which every text is one of `names`."""
    tiles = [Tile(name, 0, name) for name in names]
    ledger = Ledger(
        dict.fromkeys(tiles, Status.FAILED), {tile: tile.config for tile in tiles}, (), 0
    )
    runs = tuple(
        dict.fromkeys(("started", "updated", "python", "machine"), name)
        | {"versions": {name: name}, "cpu_features": [name]}
        for name in names
    )
    first = names[0]
    provenance = Provenance(small_spec(), first, first, first, 1, runs)
    return report_page(first, named_cube(names), ledger, provenance)
