"""The cube of a sweep as workers use it: each process opens it once."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import NAMESPACE_OID, uuid5

from pipeline.datasets import Table
from pipeline.execution.block import BlockResult
from pipeline.spec import Tile
from storage import stored_table
from storage.control import cancel_mark
from storage.handle import CubeHandle, open_handle
from storage.ledger import is_done
from storage.provenance import record_session
from storage.tiles import write_tile

#: Cubes that a process keeps open. A worker may serve several sessions in turn.
KEPT = 8


@dataclass(frozen=True)
class CubeStore:
    """A `pipeline.execution.tile_tasks.TileStore`, which is sent to workers by pickle.

    Attributes
    ----------
    location : str
        The cube.
    session : str
        A name for the session.
    mark : str
        The cancel mark of the cube when the session started.
    """

    location: str
    session: str
    mark: str = ""

    def is_wanted(self, tile: Tile) -> bool:
        """Return whether a tile still has to be computed, and the session was not cancelled."""
        return not self.is_cancelled() and not is_done(self._handle, tile)

    def is_cancelled(self) -> bool:
        """Return whether the session was cancelled."""
        return cancel_mark(self.location) != self.mark

    def write(self, tile: Tile, results: Sequence[BlockResult]) -> None:
        """Write a tile, and record once the software and the host of this process."""
        _record_once(self.location, self.session)
        write_tile(self._handle, tile, results)

    def table(self, tile: Tile) -> Table:
        """Return the table of a tile, which a process reads once."""
        return stored_table(self._handle, tile.config, tile.dataset)

    @property
    def _handle(self) -> CubeHandle:
        return _open_once(self.location, self.session)


@lru_cache(maxsize=KEPT)
def _open_once(location: str, session: str) -> CubeHandle:  # noqa: ARG001 - part of the cache's key
    """Open a cube once for each session: another cube may be at the same location by the next."""
    return open_handle(location)


@lru_cache(maxsize=KEPT)
def _record_once(location: str, session: str) -> None:
    """Record a session once in each process, under one name for each host."""
    host = socket.gethostname()
    record = uuid5(NAMESPACE_OID, f"{session} {host}").hex
    record_session(_open_once(location, session), [host], record)
