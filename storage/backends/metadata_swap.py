"""Replace several files at once: a kill at any moment leaves all old or all new ones.

All metadata documents change together when a cube is extended; otherwise the shapes of its arrays
would not match. No file system replaces two files at once, but one link can be replaced: during the
swap each document is a link through one folder link, ``current``, which first points to the old
documents and then to the new ones. Before and after the swap there are no links.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.files import write_durably

#: Inside an array's folder, where Zarr looks for chunks only. The name is older than this module:
#: a swap that an earlier version did not finish left its files there.
STAGE = Path("status") / ".exchange"


def swap(folder: Path, documents: Mapping[str, bytes]) -> None:
    """Replace the files `documents`, by path relative to `folder`, all at once."""
    settle(folder, documents)
    stage = folder / STAGE
    for key, content in documents.items():
        write_durably(stage / "old" / key, (folder / key).read_bytes())
        write_durably(stage / "new" / key, content)
    _link(stage, stage / "current", "old")
    for key in documents:
        target = os.path.relpath(stage / "current" / key, (folder / key).parent)
        _link(stage, folder / key, target)
    _link(stage, stage / "current", "new")
    settle(folder, documents)


def settle(folder: Path, keys: Iterable[str]) -> None:
    """Turn the links that a swap left into files with the same content."""
    stage = folder / STAGE
    for key in keys:
        if (folder / key).is_symlink():
            copy = stage / "copy"
            write_durably(copy, (folder / key).read_bytes())
            copy.replace(folder / key)
    if stage.exists():
        shutil.rmtree(stage)


def _link(stage: Path, path: Path, target: str) -> None:
    """Replace `path` by a link. It is made in the stage, where a killed process may leave it."""
    link = stage / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(path)
