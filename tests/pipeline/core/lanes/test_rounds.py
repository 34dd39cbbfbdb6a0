import numpy as np
import pytest

from pipeline.core.lanes.rounds import MAX_ROUNDS, PatternRounds, marks
from pipeline.core.types import BoolArray


def enter(rounds: PatternRounds, *hashes: int) -> BoolArray:
    return rounds.enter(np.array(hashes, dtype=np.uint64))


def test_equal_members_of_two_rounds_in_a_row_are_recognised() -> None:
    rounds = PatternRounds.none_yet(2)
    assert enter(rounds, 5, 6).tolist() == [True, True]
    assert enter(rounds, 5, 7).tolist() == [False, True]
    assert rounds.done.tolist() == [2, 2]


@pytest.mark.parametrize(("before", "period"), [(0, 2), (3, 2), (1, 3), (0, 7), (20, 11)])
def test_a_cycle_ends_with_the_members_of_the_last_round_allowed(before: int, period: int) -> None:
    """Members of round r are those of round s: the outcome is that of s + (500 - s) mod (r - s)."""
    members = [*range(1, before + 1), *(100 + i % period for i in range(MAX_ROUNDS))][:MAX_ROUNDS]
    rounds, entered = PatternRounds.none_yet(1), 0
    while not rounds.at_end[0]:
        enter(rounds, members[entered])
        entered += 1
    assert entered <= before + 2 * period
    assert members[entered - 1] == members[MAX_ROUNDS - 1]


def test_members_that_never_return_end_at_the_limit() -> None:
    rounds = PatternRounds.none_yet(1)
    for number in range(1, MAX_ROUNDS + 1):
        assert not rounds.at_end[0]
        enter(rounds, number)
    assert rounds.at_end[0]


def test_a_new_pattern_has_forgotten_the_last_one() -> None:
    rounds = PatternRounds.none_yet(2)
    for number in (5, 6, 5):
        enter(rounds, number, number)
    rounds.restart(np.array([True, False]))
    assert rounds.done.tolist() == [0, 3]
    assert rounds.last[0] == MAX_ROUNDS
    assert enter(rounds, 5, 5).tolist() == [True, False]
    assert rounds.last[0] == MAX_ROUNDS


def test_lanes_that_are_kept_keep_their_history() -> None:
    both, one = PatternRounds.none_yet(2), PatternRounds.none_yet(1)
    for number in (5, 6, 7):
        enter(both, 1, number)
        enter(one, number)
    kept = both.keep(np.array([False, True]))
    enter(kept, 5)
    enter(one, 5)
    for found, expected in ((kept.done, one.done), (kept.last, one.last)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(kept.history, one.history)


def test_marks_are_the_same_in_every_run_and_for_every_number_of_entities() -> None:
    np.testing.assert_array_equal(marks(10), marks(1000)[:10])
    assert len(set(marks(1000).tolist())) == 1000
