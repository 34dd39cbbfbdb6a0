import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import zscore
from sklearn.preprocessing import MinMaxScaler
from sklearn.preprocessing import normalize as sklearn_normalize

from pipeline.core import NORMALISATIONS, ConstantFeatureWarning, normalise

X = np.random.default_rng(1).normal(3, 2, size=(50, 4))
SCALING = [name for name in NORMALISATIONS if name != "none"]


def test_z_score_equals_scipy_with_the_sample_standard_deviation() -> None:
    np.testing.assert_allclose(normalise(X, "z-score"), zscore(X, ddof=1))


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 49, 50])
@pytest.mark.parametrize("features", [1, 4])
def test_z_score_sums_squares_in_the_order_of_matlab(rows: int, features: int) -> None:
    """On lattices the last bits decide ties: Car evaluation has the published ARI only so."""
    some = np.ldexp(X[:rows, :features], -np.frexp(np.abs(X[:rows, :features]).max(axis=0))[1])
    centred = some - some.mean(axis=0)
    for column, found in zip(centred.T, normalise(some, "z-score").T, strict=True):
        lanes = [0.0] * 4
        for row, value in enumerate(column):
            lanes[row % 4] += value * value
        total = ((lanes[0] + lanes[1]) + lanes[2]) + lanes[3]
        np.testing.assert_array_equal(found, column / np.sqrt(total / (rows - 1)))


def test_min_max_equals_scikit_learn() -> None:
    np.testing.assert_allclose(normalise(X, "min-max"), MinMaxScaler().fit_transform(X))


def test_unit_length_equals_scikit_learn() -> None:
    np.testing.assert_allclose(normalise(X, "unit-length"), sklearn_normalize(X, axis=0))


def test_range_is_centred_with_range_one() -> None:
    result = normalise(X, "range")
    np.testing.assert_allclose(result.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(np.ptp(result, axis=0), 1)


def test_robust_z_score_of_four_values() -> None:
    # median 2, absolute deviations 1, 0, 1, 98: their median is 1
    result = normalise([[1.0], [2.0], [2.0], [100.0]], "robust-z-score")
    np.testing.assert_array_equal(result[:, 0], [-2, 0, 0, 196])


@pytest.mark.parametrize("name", SCALING)
def test_constant_feature_becomes_zeros_with_a_warning(name: str) -> None:
    with pytest.warns(ConstantFeatureWarning, match=r"features \[1\]"):
        result = normalise(np.column_stack([X[:, 0], np.full(50, 0.1)]), name)
    assert not result[:, 1].any()
    assert result[:, 0].any()


@pytest.mark.parametrize("name", SCALING)
def test_a_single_row_becomes_zeros(name: str) -> None:
    with pytest.warns(ConstantFeatureWarning, match=r"features \[0, 1\]"):
        assert not normalise([[3.0, -1.0]], name).any()


def test_feature_without_median_deviation_becomes_zeros_with_a_warning() -> None:
    with pytest.warns(ConstantFeatureWarning, match=r"features \[0\]"):
        result = normalise([[0.0], [0.0], [0.0], [5.0]], "robust-z-score")
    assert not result.any()


@pytest.mark.parametrize("name", SCALING)
@given(exponent=st.integers(-1000, 1000))
def test_scale_changes_no_bit_even_where_squares_overflow(name: str, exponent: int) -> None:
    np.testing.assert_array_equal(normalise(np.ldexp(X, exponent), name), normalise(X, name))


def test_none_leaves_the_data_as_they_are_but_does_not_share_them() -> None:
    given = np.column_stack([X[:, 0] * 1e150, np.full(50, 0.1)])
    result = normalise(given, "none")
    np.testing.assert_array_equal(result, given)
    assert not np.shares_memory(result, given)
