"""Where results live: one Zarr group, a cube, written by many workers and read at any moment."""

from storage.backends.location import CubeLocation
from storage.cancel import cancel_mark, cancel_sweeps
from storage.cube import create_cube, open_cube
from storage.errors import CubeError, CubeMismatchError, DamagedCubeError
from storage.extend import extend_cube
from storage.layout.schema import Status
from storage.ledger import Counts, Ledger, Work, is_done, read_ledger, todo
from storage.provenance import Provenance, environment, read_provenance, record_run
from storage.tables import stored_table
from storage.tiles import forgive, mark_failed, mark_missing, read_tile, write_tile
from storage.verify import Verification, verify_cube

__all__ = [
    "Counts",
    "CubeError",
    "CubeLocation",
    "CubeMismatchError",
    "DamagedCubeError",
    "Ledger",
    "Provenance",
    "Status",
    "Verification",
    "Work",
    "cancel_mark",
    "cancel_sweeps",
    "create_cube",
    "environment",
    "extend_cube",
    "forgive",
    "is_done",
    "mark_failed",
    "mark_missing",
    "open_cube",
    "read_ledger",
    "read_provenance",
    "read_tile",
    "record_run",
    "stored_table",
    "todo",
    "verify_cube",
    "write_tile",
]
