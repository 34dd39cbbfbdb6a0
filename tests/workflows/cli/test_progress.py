import os
import pty
import subprocess
from pathlib import Path
from time import sleep

import pytest

from tests.faults import BIN
from tests.workflows.cli.small import SPEC, written
from workflows.cli import progress
from workflows.cli.progress import Tally, shown_progress
from workflows.sweep import Started, TileEnded

STARTED = Started(tiles=10, done=4, failed=1, workers=0, dashboard=None)


def test_failed_tiles_are_not_counted_as_done() -> None:
    tally = Tally()
    for event in (STARTED, TileEnded(SPEC.tiles[0], None), TileEnded(SPEC.tiles[1], "why")):
        tally.add(event)
    assert tally.sentence().startswith("5 of 10 tiles done, 2 failed, ")
    assert tally.sentence().endswith(" s left")


def test_without_a_terminal_a_line_is_printed_every_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.1)
    with shown_progress(as_json=False) as show:
        show(STARTED)
        sleep(0.35)
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("5 of 10 tiles to do, no worker yet")
    assert 1 <= len(lines) <= 3
    assert set(lines) == {"4 of 10 tiles done, 1 failed"}


def test_on_a_terminal_a_bar_counts_tiles(tmp_path: Path) -> None:
    spec, cube = written(SPEC, tmp_path / "spec.toml"), tmp_path / "cube.zarr"
    ours, theirs = pty.openpty()
    command: list[str | Path] = [BIN / "imwk", "submit", spec, cube, "--workers", "1"]
    program = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    shown = _read_all(ours)
    assert program.wait(60) == 0
    assert "dashboard: http://127.0.0.1:" in shown
    assert "2/2" in shown
    assert "/min" in shown
    assert "0 s left" in shown
    assert "0 failed" in shown


def _read_all(terminal: int) -> str:
    pieces = []
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        while True:
            try:
                pieces.append(screen.read(4096))
            except OSError:  # raised on Linux when no process writes any more
                return b"".join(pieces).decode()
