"""The walk of the paper's authors to a fixed-step centre, which the published values need."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pipeline.core.centres.closed_forms import means
from pipeline.core.centres.dispersions import group_dispersions
from pipeline.core.centres.types import Centres, Minima, Starts
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array, FloatArray, IntArray

FIRST_STEP = 0.001
LAST_STEP = 1e-4
STEP_SHRINKAGE = 0.9
#: The walk takes up to one evaluation per 0.001 of range: on wider data it would take hours.
WIDEST_WALK = 100.0


def _steps() -> Float64Array:
    """Return all lengths of steps, each shrunk from the one before, until they change nothing."""
    steps = [FIRST_STEP]
    while steps[-1] > np.finfo(np.float64).tiny:
        steps.append(steps[-1] * STEP_SHRINKAGE)
    return np.array(steps)


STEPS = _steps()
#: After so many shrinks a step is short.
STEPS_UNTIL_SHORT = int(np.argmax(STEPS < LAST_STEP))


@dataclass(frozen=True)
class _Walks:
    """The walks that go on: `number` and `p` are (walks,), the others (m, walks).

    A walk is that of one group; `number` is the group's place among all groups.
    """

    number: IntArray
    groups: Groups
    p: Float64Array
    centres: FloatArray
    dispersions: FloatArray
    step: FloatArray

    def keep(self, going: BoolArray) -> Self:
        """Return the walks that go on."""
        return type(self)(
            number=self.number[going],
            groups=self.groups.keep(going),
            p=self.p[going],
            centres=self.centres[:, going],
            dispersions=self.dispersions[:, going],
            step=self.step[:, going],
        )

    def advance(self) -> Self:
        """Take every step that descends, and shrink the others."""
        there = self.centres + self.step
        dispersions = group_dispersions(self.groups, there, self.p)
        better = dispersions < self.dispersions
        shrunk = self.step * self.step.dtype.type(STEP_SHRINKAGE)
        return type(self)(
            self.number,
            self.groups,
            self.p,
            np.where(better, there, self.centres),
            np.where(better, dispersions, self.dispersions),
            np.where(better, self.step, shrunk),
        )


def walk_from_mean(
    groups: Groups,
    p: Float64Array,
    starts: Starts | None = None,  # noqa: ARG001
) -> Centres:
    """Walk from the mean in steps that shrink where they no longer descend.

    All features of a group walk until the steps of all of them are short.
    """
    walks = _start(groups, p)
    centres, dispersions = np.empty((2, *walks.centres.shape), dtype=walks.centres.dtype)
    while len(walks.number):
        walks = walks.advance()
        going = np.asarray((np.abs(walks.step) >= LAST_STEP).any(axis=0))
        if not going.all():
            ended = walks.number[~going]
            centres[:, ended] = walks.centres[:, ~going]
            dispersions[:, ended] = walks.dispersions[:, ~going]
            walks = walks.keep(going)
    return Centres(centres, dispersions, Minima.unknown(centres))


def _start(groups: Groups, p: Float64Array) -> _Walks:
    """Put every walk on the mean, and turn it to the side that descends, once and for all."""
    centres, dispersions, _ = means(groups, p)
    first = centres.dtype.type(FIRST_STEP)
    ascends = dispersions < group_dispersions(groups, centres + first, p)
    step = np.where(ascends, -first, first)
    step[dispersions == 0] = 0.0  # a lone member or a constant feature is at its centre already
    return _Walks(np.arange(len(p)), groups, p, centres, dispersions, step)
