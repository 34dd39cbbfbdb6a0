"""Each rule against the inequality in its notes, for one search."""

import numpy as np
import pytest

from pipeline.core.centres.brackets import Brackets
from pipeline.core.centres.slopes import Trial, slopes_below_2
from pipeline.core.centres.stop_rules import (
    GapStopInFloat32,
    GapStopInFloat64,
    Proposal,
    SmallStep,
    StopRule,
)
from pipeline.core.segments import Segments
from pipeline.core.types import FloatArray

pytestmark = pytest.mark.usefixtures("as_public_functions_call")


def proposal(
    size: float, width: float, trial: Trial, values: FloatArray, p: float = 1.5
) -> Proposal:
    """Propose one step in a bracket that begins at 0."""
    segments = Segments(values, np.array([len(values)]))
    span = segments.highs - segments.lows
    here, end = (np.array([x], dtype=values.dtype) for x in (0.0, width))
    brackets = Brackets(np.arange(1), segments, np.array([p]), span, here, end)
    return Proposal(np.array([size], dtype=values.dtype), end, brackets, trial)


def gap_trial(nearest: float) -> Trial:
    """Return a trial with the given distance to the nearest value; its sums do not matter."""
    return Trial(*(np.array([x]) for x in (1.0, 1.0, 1.0, nearest, 2 * nearest)))


def decide(rule: StopRule, proposed: Proposal) -> tuple[float, bool]:
    size, last = rule(proposed)
    return float(size[0]), bool(last[0])


@pytest.mark.parametrize(("size", "last"), [(0.0199, True), (0.0201, False)])
def test_a_small_step_is_a_share_of_the_range(size: float, last: bool) -> None:
    proposed = proposal(size, 1.0, gap_trial(0.1), np.array([-1.0, 0.0, 1.0]))
    assert decide(SmallStep(0.01), proposed) == (size, last)


def test_a_share_of_the_range_is_never_less_than_the_precision_tells_apart() -> None:
    values = np.array([0.0, 1.0], dtype=np.float32)
    tiny = proposal(4e-7, 1.0, gap_trial(0.1), values)
    assert decide(SmallStep(1e-12), tiny)[1]
    assert not decide(SmallStep(1e-12), proposal(4e-7, 1.0, gap_trial(0.1), values.astype(float)))[
        1
    ]


VALUES = np.array([0.0, 1.0])
RULE = GapStopInFloat64()


@pytest.mark.parametrize("nearest", [0.25, 1e-4])
@pytest.mark.parametrize(("part", "last"), [(0.99, True), (1.01, False)])
def test_the_square_of_the_step_over_the_nearest_distance_decides(
    nearest: float, part: float, last: bool
) -> None:
    longest = np.sqrt(2 * RULE.rest * nearest)
    assert decide(RULE, proposal(part * longest, 0.5, gap_trial(nearest), VALUES))[1] == last


def test_a_step_of_the_rest_is_the_last_however_near_a_value_is() -> None:
    narrow = 3.9 * RULE.certain
    assert decide(RULE, proposal(0.9e-9, narrow, gap_trial(1e-15), VALUES)) == (0.9e-9, True)


@pytest.mark.parametrize(
    ("size", "width", "longer"),
    [(0.9e-9, 0.5, 1e-8), (0.9e-9, 4.1e-8, 1e-8), (0.9e-8, 0.5, 1.8e-8)],
)
def test_among_values_closer_than_the_step_the_search_goes_on_and_beyond(
    size: float, width: float, longer: float
) -> None:
    rule = GapStopInFloat64(rest=1e-8)
    found, last = decide(rule, proposal(size, width, gap_trial(9 * size), VALUES))
    assert not last
    assert found == pytest.approx(longer)


def test_a_longer_step_does_not_leave_the_bracket() -> None:
    rule = GapStopInFloat64(rest=0.1)
    found, last = decide(rule, proposal(0.04, 0.06, gap_trial(0.1), VALUES))
    assert (found, last) == (0.03, False)


def in_float32(centre: float, values: FloatArray, width: float, p: float) -> tuple[float, bool]:
    """Decide on a step of 0.1 from a trial at `centre`."""
    single = values.astype(np.float32)
    segments = Segments(single, np.array([len(single)]))
    trial = slopes_below_2(segments, np.array([centre], dtype=np.float32), np.array([p]))
    return decide(GapStopInFloat32(), proposal(0.1, width, trial, single, p))


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9])
def test_in_float32_a_last_step_is_certain_to_end_near_the_root(p: float) -> None:
    """The root is 0 by symmetry; trials go away from it until the search would go on."""
    values = np.concatenate([np.linspace(-1, -0.2, 40), np.linspace(0.2, 1, 40)])
    away = [10.0**-e for e in np.arange(6, 0, -0.25)]
    decisions = [in_float32(centre, values, width=1.0, p=p) for centre in away]
    last = [decision[1] for decision in decisions]
    assert last == sorted(last, reverse=True)
    assert last[0]
    assert not last[-1]
    farthest = max(centre for centre, ends in zip(away, last, strict=True) if ends)
    tolerance = GapStopInFloat32().of_range * 2
    assert farthest <= tolerance
    assert all(size <= tolerance * 1.0001 for size, ends in decisions if ends)
    assert all(size == np.float32(0.1) for size, ends in decisions if not ends)


def test_in_float32_a_narrow_bracket_is_the_end() -> None:
    values = np.linspace(-1, 1, 50)
    assert not in_float32(0.5, values, width=0.5, p=1.5)[1]
    assert in_float32(0.5, values, width=1e-4, p=1.5)[1]


def test_in_float32_an_outlier_widens_the_range_but_not_the_tolerance() -> None:
    values = np.append(1e-4 * np.linspace(-1, 1, 99), 1.0)
    narrow, wide = 3e-7, 0.9 * GapStopInFloat32().of_range
    assert in_float32(1e-6, values, width=narrow, p=1.5)[1]
    assert not in_float32(1e-6, values, width=wide, p=1.5)[1]
