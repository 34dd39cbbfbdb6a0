"""Paired differences over data sets, and Wilcoxon's test, against SciPy."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem, wilcoxon

from storage.query import best_exponents, best_results, paired_differences
from storage.query.signed_rank import signed_rank_p_value

#: Few different sizes, so that there are ties, zeros and both signs.
DIFFERENCES = st.lists(st.integers(-6, 6), min_size=2, max_size=60)


@given(DIFFERENCES.filter(any))
def test_p_values_are_those_of_scipy(tenths: list[int]) -> None:
    differences = np.array(tenths) / 8  # exact, as SciPy does not round
    expected = wilcoxon(differences, method="asymptotic").pvalue
    assert signed_rank_p_value(differences) == pytest.approx(expected, rel=1e-9)


def test_equal_pairs_have_a_p_value_of_one() -> None:
    assert signed_rank_p_value(np.zeros(5)) == 1


def test_rounding_decides_neither_signs_nor_ties() -> None:
    exact = np.array([0.25, -0.5, 0.25, 0.75, 0.0, 0.5])
    noisy = exact + 1e-16 * np.array([1, -1, -1, 1, 1, -1])
    assert signed_rank_p_value(noisy) == signed_rank_p_value(exact)


def results(values: np.ndarray, configs: list[str]) -> xr.DataArray:
    labels = {"config": configs, "dataset": range(values.shape[1]), "normalisation": ["range"]}
    return xr.DataArray(values[..., np.newaxis].copy(), labels)


RANDOM = np.random.default_rng(7)
FIRST, SECOND = RANDOM.normal(size=(2, 3, 12))
NAMES = ["a", "b", "c"]


def test_each_configuration_and_all_of_them_are_compared() -> None:
    rows = paired_differences(results(FIRST, NAMES), results(SECOND, NAMES)).set_index("config")
    assert rows.index.tolist() == [*NAMES, "all"]
    pairs = {**dict(zip(NAMES, zip(FIRST, SECOND, strict=True), strict=True))}
    pairs["all"] = (FIRST.ravel(), SECOND.ravel())
    for name, (one, other) in pairs.items():
        row, difference = rows.loc[name], one - other
        assert row.pairs == len(one)
        assert (row["first"], row.second) == pytest.approx((one.mean(), other.mean()))
        assert row.difference == pytest.approx(difference.mean())
        assert row.standard_error == pytest.approx(sem(difference))
        assert (row.better, row.worse) == ((difference > 0).sum(), (difference < 0).sum())
        assert row.p_value == pytest.approx(wilcoxon(difference, method="asymptotic").pvalue)


def test_pairs_are_matched_by_label_and_need_two_finite_values() -> None:
    first, second = results(FIRST, NAMES), results(SECOND, NAMES)
    expected = paired_differences(first.isel(dataset=slice(2, None)), second)
    first[:, 0], second[:, 1] = np.nan, np.inf
    shuffled = second.isel(config=[2, 0, 1], dataset=RANDOM.permutation(12))
    found = paired_differences(first, shuffled).set_index("config")
    assert found.pairs.tolist() == [10, 10, 10, 30]
    np.testing.assert_allclose(
        found.loc[NAMES].drop(columns="normalisation"),
        expected.set_index("config").loc[NAMES].drop(columns="normalisation"),
    )


def test_lower_scores_can_be_better() -> None:
    first, second = results(FIRST, NAMES), results(SECOND, NAMES)
    higher = paired_differences(first, second)
    lower = paired_differences(first, second, higher_is_better=False)
    assert lower.better.equals(higher.worse)
    assert lower.difference.equals(higher.difference)


def test_a_single_pair_has_no_error_and_no_pairs_no_row() -> None:
    one = results(FIRST[:1, :1], ["a"])
    (row,) = paired_differences(one, one + 1).to_dict("records")
    assert (row["pairs"], row["difference"]) == (1, pytest.approx(-1))
    assert np.isnan([row["standard_error"], row["p_value"]]).all()
    assert paired_differences(one, one * np.nan).empty


def test_best_results_have_exponents_of_their_own_or_in_common() -> None:
    grid = RANDOM.normal(size=(2, 5, 4, 3))
    labels = {"config": ["a", "b"], "dataset": range(5), "p1": [1.1, 1.5, 2, 3], "p2": [1, 2, 3]}
    cube = xr.DataArray(grid, labels).to_dataset(name="rescaled_imwk_ari")
    own = best_results(cube, "rescaled_imwk_ari")
    np.testing.assert_array_equal(own.values, grid.max(axis=(2, 3)))
    xr.testing.assert_equal(own, best_exponents(cube)["best"].rename(own.name))
    common = best_results(cube, "rescaled_imwk_ari", average=True)
    for place, config in enumerate(grid):
        p1, p2 = np.unravel_index(config.mean(axis=0).argmax(), (4, 3))
        np.testing.assert_array_equal(common.values[place], config[:, p1, p2])
