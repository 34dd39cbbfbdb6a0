"""How many requests a sweep makes to an object store, counted on a small one in memory."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import obstore

from pipeline.execution.serial import run_serially
from pipeline.execution.tile_tasks import split_blocks
from pipeline.spec import SweepSpec
from storage import create_cube, read_ledger
from storage.control import cancel_mark
from workflows.cube_store import CubeStore

#: Requests to an object store, by what they are charged as.
REQUESTS = {
    "get": "reads",
    "get_async": "reads",
    "get_range_async": "reads",
    "get_ranges_async": "reads",
    "head": "reads",
    "head_async": "reads",
    "put": "writes",
    "put_async": "writes",
    "delete": "writes",
    "delete_async": "writes",
    "list": "writes",
    "list_with_delimiter_async": "writes",
}


@dataclass(frozen=True)
class Requests:
    """Requests to the store by a sweep, for each of what causes them."""

    of: str
    reads: float
    writes: float


def count_requests() -> dict[str, Requests]:
    """Count the requests of blocks, of writes and of a look at the ledger."""
    one, four = _requests_of_a_sweep(1), _requests_of_a_sweep(4)
    tiles = len(_SMALL.tiles)
    a_block = {kind: (four[0][kind] - one[0][kind]) / (3 * tiles) for kind in one[0]}
    a_tile = {kind: one[0][kind] / tiles - a_block[kind] for kind in one[0]}
    a_look = {kind: one[1][kind] / tiles for kind in one[1]}
    return {
        of: Requests(of, found.get("reads", 0.0), found.get("writes", 0.0))
        for of, found in (("a block", a_block), ("a tile", a_tile), ("status, a tile", a_look))
    }


_SMALL = SweepSpec.model_validate(
    {
        "datasets": {"synthetic": {"configs": ["1000x6-3"], "count": 20}},
        "normalisations": ["range"],
        "restarts": 2,
        "p1": [2, 2.5, 3, 3.5],
        "p2": [2],
    }
)


def _requests_of_a_sweep(blocks: int) -> tuple[Counter[str], Counter[str]]:
    """Return the requests of a small sweep with so many blocks a tile, and of its ledger."""
    url = f"memory:///{uuid4().hex}"
    create_cube(url, _SMALL)
    jobs = split_blocks(
        {work.tile: work.blocks for work in read_ledger(url).todo}, len(_SMALL.p1) // blocks
    )
    store = CubeStore(url, "run", cancel_mark(url))
    with _counted() as sweep:
        assert all(outcome.error is None for outcome in run_serially(_SMALL, jobs, store))
    with _counted() as look:
        read_ledger(url)
    return sweep, look


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    found: Counter[str] = Counter()

    def counting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def counted(*arguments: Any, **options: Any) -> Any:
            found[REQUESTS[name]] += 1
            return work(*arguments, **options)

        return counted

    with ExitStack() as stack:
        for name in REQUESTS:
            replaced = counting(name, getattr(obstore, name))
            stack.enter_context(patch.object(obstore, name, replaced))
        yield found
