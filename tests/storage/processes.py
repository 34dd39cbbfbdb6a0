"""Real processes, and kills at chosen steps."""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

#: Processes are forked by a server that has imported everything: they start fast, without threads.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["storage", "tests.storage.made_up"])

#: All calls by which our own code changes a file system, without those of Zarr.
STEPS: dict[Any, tuple[str, ...]] = {
    Path: ("write_bytes", "replace", "rename", "symlink_to", "unlink"),
    os: ("rmdir",),
}


class Killed(BaseException):
    """An error that nothing catches, like a kill."""


def interrupted_after(steps: int, work: Callable[[], object]) -> bool:
    """Do `work`, but stop before its step number `steps`; return whether it was finished."""
    left = [steps]

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **keywords: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return change(*args, **keywords)

        return step

    patches = [
        patch.object(owner, name, counted(getattr(owner, name)))
        for owner, names in STEPS.items()
        for name in names
    ]
    for change in (*patches, patch.object(shutil, "rmtree", counted(shutil.rmtree))):
        change.start()
    try:
        work()
    except Killed:
        return False
    finally:
        patch.stopall()
    return True
