"""Bad arguments raise errors of one family that say what is wrong, where, and what to do."""

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline.core import (
    ImwkError,
    InvalidInputError,
    adjusted_rand_index,
    imwk,
    imwk_grid,
    imwk_many,
    kmeans,
    kmeans_many,
    minkowski_centre,
    normalise,
    rescale,
)
from pipeline.datasets import synthetic_dataset

GOOD = np.random.default_rng(1).normal(size=(12, 3))
WITH_NAN = GOOD.copy()
WITH_NAN[4, 2] = np.nan
WITH_INFINITY = GOOD.copy()
WITH_INFINITY[0, 1] = -np.inf

TAKES_DATA: dict[str, Callable[[Any], object]] = {
    "imwk": lambda X: imwk(X, 2, 2.0),
    "imwk_many": lambda X: imwk_many(X, 2, [1.5, 2.0]),
    "kmeans": lambda X: kmeans(X, 2, 3, seed=1),
    "normalise": lambda X: normalise(X, "range"),
    "minkowski_centre": lambda X: minkowski_centre(X, 1.5),
    "rescale": lambda X: rescale(X, np.zeros(12, dtype=int), np.ones((1, 3))),
}

BAD_DATA: dict[str, tuple[Any, str]] = {
    "NaN": (WITH_NAN, r"X contains nan at row 4, column 2 \(1 such cells.*Impute"),
    "infinity": (WITH_INFINITY, r"X contains -inf at row 0, column 1.*Impute"),
    "1-D": (GOOD[:, 0], r"two dimensions.*got 1.*X\.reshape\(-1, 1\)"),
    "3-D": (GOOD[np.newaxis], r"two dimensions.*got 3"),
    "no entity": (GOOD[:0], r"empty.*\(0, 3\).*at least one"),
    "no feature": (GOOD[:, :0], r"empty.*\(12, 0\).*at least one"),
    "text": ([["a", "b"], ["c", "d"]], r"table of numbers.*Encode"),
    "ragged": ([[1.0, 2.0], [3.0]], r"rectangular table"),
    "masked": (np.ma.masked_greater(GOOD, 0), r"table of numbers.*masked.*missing"),
    "complex": (GOOD + 1j, r"table of numbers.*complex128"),
    "dates": (np.full((12, 3), np.datetime64("NaT")), r"table of numbers.*datetime64"),
    "huge integers": ([[10**400], [1]], r"table of numbers"),
    "nothing": (None, r"two dimensions|table of numbers"),
}


@pytest.mark.parametrize(("X", "message"), BAD_DATA.values(), ids=BAD_DATA)
@pytest.mark.parametrize("call", TAKES_DATA.values(), ids=TAKES_DATA)
def test_bad_data_is_refused(call: Callable[[Any], object], X: Any, message: str) -> None:
    with pytest.raises(ImwkError, match=message) as caught:
        call(X)
    assert isinstance(caught.value, ValueError)


BAD_CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "k = 0": (lambda: imwk(GOOD, 0, 2), r"k must be a whole number of at least 1, got 0\."),
    "k > n": (lambda: imwk(GOOD, 13, 2), r"k must be at most 12, the number of entities, got 13\."),
    "k = 2.5": (lambda: imwk(GOOD, 2.5, 2), r"k must be a whole number.*2\.5"),  # type: ignore[arg-type]
    "k text": (lambda: kmeans(GOOD, "two", 1, 1), r"k must be.*'two'"),  # type: ignore[arg-type]
    "p < 1": (
        lambda: imwk(GOOD, 2, 0.9),
        r"^p must be a finite number of at least 1, got 0\.9\. The paper uses 1\.1 to 5\.0\.$",
    ),
    "p NaN": (lambda: imwk(GOOD, 2, float("nan")), r"p must be a finite number.*got nan"),
    "p infinite": (
        lambda: minkowski_centre(GOOD, float("inf")),
        r"p must be a finite number.*got inf",
    ),
    "p text": (lambda: imwk_many(GOOD, 2, ["x"]), r"p must be a finite number.*'x'"),  # type: ignore[list-item]
    "one p of many": (lambda: imwk_many(GOOD, 2, [1.5, 0.5]), r"p must be.*got 0\.5"),
    "centre": (lambda: imwk(GOOD, 2, 2, "exakt"), r"centre 'exakt'.*Did you mean 'exact'"),
    "method": (lambda: minkowski_centre(GOOD, 2, "newton"), r"method 'newton'.*fixed-step"),
    "normalisation": (lambda: normalise(GOOD, "zscore"), r"'zscore'.*Did you mean 'z-score'"),
    "restarts": (lambda: kmeans(GOOD, 2, 0, 1), r"restarts.*at least 1, got 0"),
    "seed": (lambda: kmeans(GOOD, 2, 1, -1), r"seed.*at least 0, got -1"),
    "too large for p": (lambda: imwk(GOOD * 1e100, 2, 5), r"overflow float64.*Normalise X first"),
    "too wide to walk": (
        lambda: imwk(GOOD * 1e6, 2, 3, "fixed-step"),
        r"range of.*use the exact centre",
    ),
    "ARI lengths": (lambda: adjusted_rand_index([0, 1], [0, 1, 1]), r"\(2,\) and \(3,\)"),
    "ARI 2-D truth": (lambda: adjusted_rand_index([[0, 1]], [0, 1]), r"\(1, 2\) and \(2,\)"),
    "ARI NaN": (lambda: adjusted_rand_index([0.0, np.nan], [0, 1]), r"truth must be.*Drop"),
    "ARI None": (lambda: adjusted_rand_index(["a", None], [0, 1]), r"truth must be.*Drop"),  # type: ignore[arg-type]
    "ARI ragged": (lambda: adjusted_rand_index([0, 1], [[0, 1], [1]]), r"labels must be an array"),
    "too large": (lambda: imwk(GOOD, 2, 10**400), r"p must be a finite number"),
    "p True": (lambda: imwk(GOOD, 2, True), r"p must be a finite number.*True"),
    "k True": (lambda: imwk(GOOD, np.True_, 2), r"k must be a whole number"),  # type: ignore[arg-type]
    "ps one number": (lambda: imwk_many(GOOD, 2, 2.0), r"ps must be a list of exponents, got 2\.0"),  # type: ignore[arg-type]
    "ps text": (lambda: imwk_many(GOOD, 2, "12"), r"ps must be a list"),  # type: ignore[arg-type]
    "dtype": (lambda: imwk(GOOD, 2, 2, dtype="float16"), r"dtype 'float16'.*float32"),
    "shapes": (lambda: imwk_grid([GOOD, GOOD[1:]], 2, [2.0]), r"different shapes.*\(11, 3\)"),
    "Xs": (lambda: imwk_grid(5, 2, [2.0]), r"Xs must be a list of data sets, got 5"),  # type: ignore[arg-type]
    "Xs of k-means": (lambda: kmeans_many(None, 2, 3, [1]), r"Xs must be a list"),  # type: ignore[arg-type]
    "seeds": (lambda: kmeans_many([GOOD], 2, 3, 1), r"seeds must be a list of seeds, got 1"),  # type: ignore[arg-type]
    "k without data": (lambda: imwk_grid([], 0, [2.0]), r"k must be a whole number"),
    "centre without data": (lambda: imwk_grid([], 2, [2.0], "exakt"), r"centre 'exakt'"),
    "vanishing powers": (
        lambda: imwk(GOOD * 1e-100, 2, 5),
        r"underflows to 0 in float64.*Normalise",
    ),
    "vanishing in float32": (
        lambda: imwk(GOOD / 10, 2, 60, dtype="float32"),
        r"underflows to 0 in float32.*or lower p, or use float64\.",
    ),
    "too large for float32": (
        lambda: imwk(GOOD * 1e9, 2, 5, dtype="float32"),
        r"overflow float32",
    ),
    "huge product": (
        lambda: rescale(GOOD * 1e300, [0] * 12, np.full((1, 3), 1e300)),
        r"contains -?inf",
    ),
    "1-D weights": (lambda: rescale(GOOD, [0] * 12, np.ones(3)), r"weights\.reshape\(1, -1\)"),
    "few labels": (lambda: rescale(GOOD, [0, 1], np.ones((2, 3))), r"12 whole numbers.*\(2,\)"),
    "real labels": (lambda: rescale(GOOD, np.zeros(12), np.ones((1, 3))), r"float64"),
    "high label": (lambda: rescale(GOOD, [2] * 12, np.ones((2, 3))), r"0 to 1"),
    "negative label": (lambda: rescale(GOOD, [-1] * 12, np.ones((2, 3))), r"from -1"),
    "few weights": (lambda: rescale(GOOD, [0] * 12, np.ones((1, 2))), r"2 columns.*3 features"),
    "configuration": (lambda: synthetic_dataset("1000x6-4", 0, 1), r"Did you mean '1000x6-3'"),
    "index": (lambda: synthetic_dataset("1000x6-3", -1, 1), r"index.*at least 0"),
}


@pytest.mark.parametrize(("call", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_arguments_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ImwkError, match=message) as caught:
        call()
    assert isinstance(caught.value, ValueError)


TAKES_K: dict[str, Callable[[Any], object]] = {
    "imwk": lambda k: imwk(GOOD, k, 2.0),
    "imwk_many": lambda k: imwk_many(GOOD, k, [1.5, 2.0]),
    "imwk_grid": lambda k: imwk_grid([GOOD, GOOD], k, [2.0]),
    "kmeans": lambda k: kmeans(GOOD, k, 3, seed=1),
    "kmeans_many": lambda k: kmeans_many([GOOD], k, 3, seeds=[1]),
}
THREE = [3, 3.0, np.int8(3), np.uint64(3), np.float32(3), np.array(3), Fraction(3)]
NOT_NUMBERS = [
    *("3", "", b"3", np.str_("3"), None, True, np.True_, np.array(True), np.nan, 3 + 0j),
    *([3], [], (3, 4), {}, np.array([3]), np.array([3, 4]), np.complex64(3)),
    *(np.datetime64("NaT"), object(), print, slice(3)),
]
NOT_COUNTS = [*NOT_NUMBERS, 2.5, np.inf, -np.inf, -1]


def brief(value: object) -> str:
    return repr(value).split(" at 0x")[0][:20]


@pytest.mark.parametrize("k", THREE, ids=repr)
@pytest.mark.parametrize("call", TAKES_K.values(), ids=TAKES_K)
def test_every_whole_number_is_taken_for_k(call: Callable[[Any], object], k: Any) -> None:
    assert_equal_results(call(k), call(3))


def assert_equal_results(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_equal_results(one, other)
        return
    for field in fields(expected):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


@pytest.mark.parametrize("k", [*NOT_COUNTS, 0, 13, 10**400], ids=brief)
@pytest.mark.parametrize("call", TAKES_K.values(), ids=TAKES_K)
def test_everything_else_is_refused_for_k(call: Callable[[Any], object], k: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^k must be "):
        call(k)


@pytest.mark.parametrize("bad", NOT_COUNTS, ids=brief)
def test_everything_but_a_whole_number_is_refused_for_restarts_and_seed(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^restarts must be a whole number of at least 1"):
        kmeans(GOOD, 2, bad, seed=1)
    with pytest.raises(InvalidInputError, match=r"^seed must be a whole number of at least 0"):
        kmeans(GOOD, 2, 3, seed=bad)


@pytest.mark.parametrize("p", [*NOT_NUMBERS, np.inf, -np.inf, -1, 0, 0.99, 10**400], ids=brief)
def test_everything_but_a_finite_number_of_at_least_1_is_refused_for_p(p: Any) -> None:
    for call in (lambda: imwk(GOOD, 2, p), lambda: minkowski_centre(GOOD, p)):
        with pytest.raises(
            InvalidInputError, match=r"^p must be a finite number of at least 1, got"
        ):
            call()


@pytest.mark.parametrize(
    "p", [2, 2.0, np.int8(2), np.float32(2), np.array(2.0), Fraction(2)], ids=repr
)
def test_every_real_number_is_taken_for_p(p: Any) -> None:
    assert_equal_results(imwk(GOOD, 3, p), imwk(GOOD, 3, 2.0))


@pytest.mark.parametrize("ps", [2.0, np.array(2.0), None, "12", b"12"], ids=repr)
def test_one_number_is_not_a_list_of_exponents(ps: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^ps must be a list of exponents, got"):
        imwk_many(GOOD, 2, ps)


@pytest.mark.parametrize("ps", [(1.5, 2), np.array([1.5, 2.0]), iter([1.5, 2.0])], ids=brief)
def test_every_iterable_of_exponents_is_taken(ps: Any) -> None:
    assert_equal_results(imwk_many(GOOD, 2, ps), imwk_many(GOOD, 2, [1.5, 2.0]))


@pytest.mark.parametrize("name", [None, 3, ["exact"], np.float32, b"exact"], ids=repr)
def test_everything_but_a_known_name_is_refused(name: Any) -> None:
    for call in (
        lambda: imwk(GOOD, 2, 2.0, name),
        lambda: imwk(GOOD, 2, 2.0, dtype=name),
        lambda: minkowski_centre(GOOD, 2.0, name),
        lambda: normalise(GOOD, name),
    ):
        with pytest.raises(
            InvalidInputError, match=r"^Unknown (centre|dtype|method|normalisation)"
        ):
            call()


@pytest.mark.parametrize("call", TAKES_DATA.values(), ids=TAKES_DATA)
def test_inputs_are_never_changed(call: Callable[[Any], object]) -> None:
    X = GOOD.copy()
    X.flags.writeable = False
    call(X)
    np.testing.assert_array_equal(X, GOOD)


@pytest.mark.parametrize("call", TAKES_DATA.values(), ids=TAKES_DATA)
def test_lists_and_other_layouts_are_taken(call: Callable[[Any], object]) -> None:
    call(GOOD.tolist())
    call(np.asfortranarray(GOOD))
    call(np.repeat(GOOD, 2, axis=1)[:, ::2])
