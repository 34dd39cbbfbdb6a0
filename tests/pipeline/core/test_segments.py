import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.segments import Groups, Segments, batches_of

some_counts = st.lists(st.integers(1, 30), min_size=1, max_size=20)


def segments_of(counts: list[int], dtype: str = "float64") -> Segments:
    values = np.random.default_rng(len(counts)).normal(size=sum(counts)).astype(dtype)
    return Segments(values, np.array(counts))


def parts(segments: Segments) -> list[list[float]]:
    ends = np.cumsum(segments.counts)[:-1]
    return [part.tolist() for part in np.split(segments.values, ends)]


@given(some_counts)
def test_sums_means_and_extremes_are_those_of_each_segment(counts: list[int]) -> None:
    segments = segments_of(counts)
    each = parts(segments)
    np.testing.assert_allclose(segments.sums(segments.values), [sum(part) for part in each])
    np.testing.assert_allclose(segments.means(), [np.mean(part) for part in each])
    np.testing.assert_array_equal(segments.lows, [min(part) for part in each])
    np.testing.assert_array_equal(segments.highs, [max(part) for part in each])
    np.testing.assert_array_equal(segments.spread(segments.lows), np.repeat(segments.lows, counts))


@pytest.mark.parametrize("count", range(1, 60))
def test_the_mean_of_a_constant_segment_is_its_value(count: int) -> None:
    assert Segments(np.full(count, 0.1), np.array([count])).means()[0] == 0.1


@given(some_counts, st.integers(0, 2**20 - 1))
def test_the_chosen_segments_are_kept_in_order(counts: list[int], choice: int) -> None:
    chosen = np.array([bool(choice >> i & 1) for i in range(len(counts))])
    segments = segments_of(counts)
    expected = [part for part, wanted in zip(parts(segments), chosen, strict=True) if wanted]
    if expected:
        assert parts(segments.keep(chosen)) == expected
    groups = Groups(np.stack([segments.values, -segments.values]), segments.counts)
    kept = groups.keep(chosen)
    assert kept.counts.tolist() == [len(part) for part in expected]
    np.testing.assert_array_equal(kept.columns[0], [x for part in expected for x in part])
    np.testing.assert_array_equal(kept.columns[1], -kept.columns[0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 10, 40, 10**6])
def test_batches_hold_every_segment_once_and_are_small(
    size: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.core.segments.BATCH_SIZE", size)
    segments = segments_of([3, 1, 25, 4, 4, 4, 9, 60, 2], dtype)
    batches = segments.batches
    assert [part for _, batch in batches for part in parts(batch)] == parts(segments)
    for some, batch in batches:
        np.testing.assert_array_equal(batch.counts, segments.counts[some])
        assert len(batch.counts) == 1 or batch.values.nbytes <= 8 * size


def test_batches_tell_which_segments_and_which_values() -> None:
    assert list(batches_of(np.array([65_000, 500, 100, 3]))) == [
        (slice(0, 2), slice(0, 65_500)),
        (slice(2, 4), slice(65_500, 65_603)),
    ]


def test_values_in_float32_are_offsets_in_units() -> None:
    segments = Segments(np.array([10.0, 12.0, 3.0]), np.array([2, 1]))
    found = segments.in_float32(np.array([10.0, 1.0]), np.array([4.0, 2.0]))
    assert found.values.dtype == np.float32
    assert parts(found) == [[0.0, 0.5], [1.0]]


def test_the_segments_of_groups_are_their_features() -> None:
    groups = Groups(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([2, 1]))
    assert parts(groups.segments) == [[1.0, 2.0], [3.0], [4.0, 5.0], [6.0]]
