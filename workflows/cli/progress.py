"""Show the progress of a sweep: a bar in a terminal, a line per minute in logs, or JSON."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event as Signal
from threading import Thread
from time import monotonic
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from pipeline.execution.plan import duration
from workflows.sweep import Event, Started, TileEnded
from workflows.terminal import counted

#: Seconds between the lines if there is no terminal.
LINE_EVERY = 60

Show = Callable[[Event], None]


class Tally:
    """The number of tiles that are done and failed so far, and the speed.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.sentence()
    'starting workers'
    >>> tally.add(Started(tiles=10, done=4, failed=1, workers=2, dashboard=None))
    >>> tally.sentence()
    '4 of 10 tiles done, 1 failed'
    """

    def __init__(self) -> None:
        self.tiles = self.done = self.failed = self.now = 0
        self.began = monotonic()

    def add(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Started():
                self.tiles, self.done, self.failed = event.tiles, event.done, event.failed
                self.began = monotonic()
            case TileEnded():
                self.now += 1
                self.failed += event.error is not None
                self.done += event.error is None

    @property
    def per_minute(self) -> float:
        """The number of tiles per minute since the start."""
        return 60 * self.now / max(monotonic() - self.began, 1e-9)

    def sentence(self) -> str:
        """Return the progress, the speed and the remaining time as a sentence."""
        if not self.tiles:
            return "starting workers"
        words = f"{self.done} of {self.tiles} tiles done, {self.failed} failed"
        if not self.now:
            return words
        return f"{words}, {self.per_minute:.3g} tiles/min, {self.left()} left"

    def left(self) -> str:
        """Return the remaining time at the current speed; it is unknown before the first tile."""
        tiles = self.tiles - self.done - self.failed
        return duration(60 * tiles / self.per_minute) if self.now else "?"


@contextmanager
def shown_progress(as_json: bool) -> Iterator[Show]:
    """Yield a function that shows events: as JSON, as a bar in a terminal, or as lines."""
    if as_json:
        yield _show_json
    elif sys.stderr.isatty():
        with _bar() as show:
            yield show
    else:
        with _lines() as show:
            yield show


def print_json(event: str, **facts: Any) -> None:
    """Print one event as a line of JSON."""
    click.echo(json.dumps({"event": event, **facts}))


def _show_json(event: Event) -> None:
    match event:
        case Started():
            print_json("started", **asdict(event))
        case TileEnded():
            print_json("tile", **asdict(event.tile), error=event.error)


@contextmanager
def _bar() -> Iterator[Show]:
    tally = Tally()
    # rich's own column for the remaining time does not work with tiles of half a minute.
    columns = (
        TextColumn("tiles"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.3g}/min"),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.fields[failed]} failed"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("tiles", total=None, rate=0.0, left="?", failed=0)

        def show(event: Event) -> None:
            tally.add(event)
            if isinstance(event, Started):
                progress.console.print(_beginning(event), highlight=False)
            progress.update(
                bar,
                total=tally.tiles,
                completed=tally.done + tally.failed,
                rate=tally.per_minute,
                left=tally.left(),
                failed=tally.failed,
            )

        yield show


@contextmanager
def _lines() -> Iterator[Show]:
    tally, over = Tally(), Signal()

    def show(event: Event) -> None:
        tally.add(event)
        if isinstance(event, Started):
            click.echo(_beginning(event), err=True)

    def tell() -> None:
        while not over.wait(LINE_EVERY):
            click.echo(tally.sentence(), err=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield show
    finally:
        over.set()
        teller.join()


def _beginning(event: Started) -> str:
    left = event.tiles - event.done - event.failed
    workers = "no worker yet"
    if event.workers:
        workers = counted(event.workers, "worker")
    return f"{left} of {event.tiles} tiles to do, {workers}; dashboard: {event.dashboard or 'none'}"
