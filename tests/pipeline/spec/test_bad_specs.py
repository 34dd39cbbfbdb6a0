"""Invalid specs give one error with the file, the key, the value and what is allowed."""

import pickle
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.core import NORMALISATIONS, ImwkError
from pipeline.core.centres import CENTRES
from pipeline.core.imwk import DTYPES
from pipeline.datasets import CONFIGURATIONS
from pipeline.errors import Problem, SpecError
from pipeline.spec import PARTS, SweepSpec
from pipeline.spec.draft import DraftDatasets
from pipeline.spec.problems import dotted, shown
from pipeline.spec.toml import parse_spec_file, read_spec
from tests.pipeline.specs import SMALL, document, small, synthetic

Path_ = tuple[str, ...]

TABLES: tuple[Path_, ...] = ((), ("datasets",), ("datasets", "synthetic"), ("p1",), ("p2",))
EXPONENTS: dict[str, Any] = {"start": 1.1, "stop": 2.0, "step": 0.1}

OTHER_TYPES: st.SearchStrategy[Any] = st.sampled_from(
    [True, "2020", [], [[1]], {}, {"a": 1}, float("nan"), float("inf"), date(2020, 1, 1), 1.5]
)
NEGATIVE = st.integers(-(2**62), -1)
HUGE = st.integers(2**63, 2**70) | st.just(2**20_000)
#: Hypothesis also tries strings from the code, and some of them are valid names.
VALID_NAMES = {"all", *CENTRES, *DTYPES, *NORMALISATIONS, *PARTS, *CONFIGURATIONS}
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8).filter(
    lambda text: text not in VALID_NAMES
)
BELOW_ONE = st.floats(max_value=1, exclude_max=True, allow_nan=False)


@dataclass(frozen=True)
class Mutation:
    """A value put into a valid spec, and the key that the message must name."""

    path: Path_
    value: Any
    named: str
    shown: Any

    def applied(self) -> dict[str, Any]:
        """Return the spec with the value."""
        spec = deepcopy(SMALL) | {"p1": dict(EXPONENTS), "p2": dict(EXPONENTS)}
        table = spec
        for key in self.path[:-1]:
            table = table[key]
        table[self.path[-1]] = self.value
        return spec


def at(path: Path_, value: Any) -> Mutation:
    return Mutation(path, value, dotted(path), value)


def wrong_numbers() -> st.SearchStrategy[Mutation]:
    keys = st.sampled_from([("seed",), ("restarts",), ("datasets", "synthetic", "count")])
    return st.builds(at, keys, OTHER_TYPES | NEGATIVE | HUGE)


def wrong_names() -> st.SearchStrategy[Mutation]:
    keys = st.sampled_from([("centre",), ("dtype",)])
    return st.builds(at, keys, OTHER_TYPES | TEXT | NEGATIVE)


def wrong_lists() -> st.SearchStrategy[Mutation]:
    keys = [("normalisations",), ("parts",), ("datasets", "synthetic", "configs")]
    lists = st.lists(OTHER_TYPES | TEXT, max_size=3)
    twice = st.sampled_from(
        [
            at(keys[0], ["range", "range"]),
            at(keys[1], ["imwk", "imwk"]),
            at(keys[2], ["1000x6-3", "1000x6-3"]),
        ]
    )
    return twice | st.builds(at, st.sampled_from(keys), OTHER_TYPES | TEXT | lists)


@st.composite
def wrong_exponents(draw: st.DrawFn) -> Mutation:
    axis = draw(st.sampled_from(["p1", "p2"]))
    bad = draw(BELOW_ONE | st.sampled_from([True, "2", [], float("nan"), float("inf"), 2**2000]))
    match draw(st.sampled_from(["list", "values", "start", "stop", "step", "lacking", "both"])):
        case "list":
            return Mutation((axis,), [1.5, bad], f"{axis}[1]", bad)
        case "values":
            return Mutation((axis,), {"values": [2, 2.0]}, f"{axis}.values[1]", 2.0)
        case "step":
            step = draw(st.floats(max_value=1e-9) | st.sampled_from([0, True, "x", float("nan")]))
            return at((axis, "step"), step)
        case "lacking":
            return at((axis,), {"start": 1.1, "stop": 2.0})
        case "both":
            return at((axis,), EXPONENTS | {"values": [2.0]})
        case edge:
            return at((axis, edge), bad)


@st.composite
def unknown_keys(draw: st.DrawFn) -> Mutation:
    table = draw(st.sampled_from(TABLES))
    data = {*DraftDatasets.model_fields, "configs", "count"}
    known = {*SweepSpec.model_fields, *data, *EXPONENTS, "values"}
    key = draw(TEXT.filter(lambda text: text not in known))
    return at((*table, key), draw(OTHER_TYPES | TEXT))


MUTATIONS = wrong_numbers() | wrong_names() | wrong_lists() | wrong_exponents() | unknown_keys()


@settings(max_examples=200)
@given(mutation=MUTATIONS)
def test_a_mutated_spec_gives_one_error_with_file_key_and_value(
    mutation: Mutation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "mutated.toml"
    file.write_text(document(mutation.applied()), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(file)
    expected = f"{file}: {mutation.named} = {shown(mutation.shown)}: "
    assert str(caught.value).startswith(expected)
    assert len(str(caught.value)) > len(expected) + 10  # the message also says what is allowed
    assert isinstance(caught.value, ImwkError)


@settings(max_examples=200)
@given(
    cut=st.tuples(st.integers(0, 500), st.integers(0, 30)),
    put=st.text(max_size=10) | st.sampled_from(["[", "]]", "=", '"', "1e999", "0x", "\x00"]),
)
@example(cut=(0, 0), put="[" * 5000)
@example(cut=(0, 0), put=f"a = {'[' * 5000}")
@example(cut=(0, 0), put=f"a = {'9' * 5000}")
def test_mutated_text_gives_a_spec_or_a_spec_error(cut: tuple[int, int], put: str) -> None:
    text = document(SMALL)
    first, length = cut
    # Any other exception fails the test
    with suppress(SpecError):
        changed = text[:first] + put + text[first + length :]
        assert parse_spec_file(changed, "sweep.toml").sweep.spec.tiles


REQUIRED: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "datasets: is missing"),
    ({"datasets": {}}, "datasets = {}: give some data: synthetic, generated, tables, uci"),
    ({"datasets": {"synthetic": {"configs": "all"}}}, "datasets.synthetic.count: is missing"),
    ({"datasets": {"synthetic": {"count": 1}}}, "datasets.synthetic.configs: is missing"),
    ({"datasets": 3}, "datasets = 3: give a table with the keys synthetic"),
    ({"datasets": {"tables": {}}}, 'datasets = {"tables": {}}: give some data'),
    (
        {"datasets": {"tables": {"mine": {}}}},
        "datasets.tables.mine = {}: give either file, or files",
    ),
    ({"datasets": {"tables": {"mine": 3}}}, "datasets.tables.mine = 3: give a table with the keys"),
    ({"datasets": {"uci": {}}}, "datasets.uci.names: is missing"),
)

FILE = {"file": "my.csv"}
MADE = {"n": 100, "m": 4, "k": 2, "count": 5}
WRONG_DATA: tuple[tuple[dict[str, Any], str], ...] = (
    ({"tables": {"mine": {"file": 3}}}, "datasets.tables.mine.file = 3: "),
    ({"tables": {"mine": FILE | {"label": ["a"]}}}, 'datasets.tables.mine.label = ["a"]: '),
    ({"tables": {"mine": FILE | {"k": 0}}}, "datasets.tables.mine.k = 0: k must be"),
    ({"tables": {"mine": FILE | {"k": [2, 0]}}}, "datasets.tables.mine.k = [2, 0]: k must be"),
    ({"tables": {"mine": FILE | {"k": [3, 3]}}}, "datasets.tables.mine.k = [3, 3]: give each"),
    ({"tables": {"mine": FILE | {"k": []}}}, "datasets.tables.mine.k = []: give each"),
    ({"tables": {"mine": FILE | {"missing": "mean"}}}, "datasets.tables.mine.missing = "),
    ({"tables": {"mine": FILE | {"ignore": "id"}}}, "datasets.tables.mine.ignore = "),
    ({"tables": {"mine": FILE | {"categorical": 1}}}, "datasets.tables.mine.categorical = 1: "),
    ({"tables": {"": FILE}}, 'datasets.tables."" = "": give a name of 1 to 60'),
    ({"tables": {"a\nb": FILE}}, 'datasets.tables."a\\nb" = '),
    ({"uci": {"names": ["Irish"]}}, 'datasets.uci.names = ["Irish"]: Unknown real data set'),
    ({"uci": {"names": "Iris"}}, 'datasets.uci.names = "Iris": give a list of real data sets'),
    ({"uci": {"names": ["Iris", "iris"]}}, "datasets.uci.names = "),
    ({"matrices": {"mine": {"k": 3}}}, "datasets.matrices.mine.rows: is missing"),
    ({"generated": {"mine": {"n": 9}}}, "datasets.generated.mine.m: is missing"),
    ({"generated": {"mine": MADE | {"n": 10**7}}}, "datasets.generated.mine.n = 10000000: n must"),
    ({"generated": {"mine": MADE | {"n": []}}}, "datasets.generated.mine.n = []: give 1 to"),
    (
        {"generated": {"mine": MADE | {"k": [2, 2]}}},
        "datasets.generated.mine.k = [2, 2]: give each",
    ),
    (
        {"generated": {"mine": MADE | {"m": [2, "x"]}}},
        'datasets.generated.mine.m = [2, "x"]: m must',
    ),
    ({"generated": {"mine": MADE | {"count": 0}}}, "datasets.generated.mine.count = 0: count must"),
    (
        {"generated": {"mine": MADE | {"noise": "NF"}}},
        'datasets.generated.mine.noise = "NF": Unknown kind of noise',
    ),
    (
        {"generated": {"mine": MADE | {"noise_share": 0.5}}},
        "datasets.generated.mine.noise_share = 0.5: there is no noise. Choose a kind",
    ),
    (
        {"generated": {"mine": MADE | {"noise": "normal", "noise_share": [0, -1]}}},
        "datasets.generated.mine.noise_share = [0, -1]: a share must be",
    ),
    (
        {"generated": {"mine": MADE | {"noise": "normal", "noise_share": float("nan")}}},
        "datasets.generated.mine.noise_share = NaN: a share must be",
    ),
    (
        {"generated": {"mine": MADE | {"spread": [2, 1]}}},
        "datasets.generated.mine.spread = [2, 1]: ",
    ),
    ({"generated": {"mine": MADE | {"spread": 1}}}, "datasets.generated.mine.spread = 1: give the"),
    ({"generated": {"mine": MADE | {"size": 1}}}, "datasets.generated.mine.size = 1: unknown key"),
    ({"generated": {"1000x6-3": MADE}}, 'datasets.generated.1000x6-3 = "1000x6-3": is the name'),
)

#: What a data set cannot be, or what would need too much memory.
IMPOSSIBLE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"k": [2, 6]}, "6 clusters of at least 20 entities need n of at least 120, got 100"),
    ({"noise": "within-cluster", "noise_share": 1.5}, "needs a noise_share of at most 1, got 1.5"),
    ({"n": 1_000_000, "m": 60}, "1000000 entities with 60 features are too many"),
    ({"n": 10_000, "noise": "normal", "noise_share": 9999.0}, "40000 features are too many"),
    ({"n": list(range(100, 200)), "m": list(range(1, 100))}, "9,900 combinations are too many"),
)


@pytest.mark.parametrize(("keys", "message"), IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_data_that_cannot_be_generated_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec_file(document({"datasets": {"generated": {"mine": MADE | keys}}}), "sweep.toml")
    assert str(caught.value).startswith("sweep.toml: datasets.generated.mine = {")
    assert message in str(caught.value)


def test_a_sweep_of_absurdly_many_data_sets_is_refused() -> None:
    many = MADE | {"n": list(range(100, 900)), "count": 10_000}
    with pytest.raises(SpecError, match=r"800 configurations with up to 10,000 data sets are too"):
        parse_spec_file(document({"datasets": {"generated": {"mine": many}}}), "sweep.toml")


def test_two_configurations_of_one_name_are_refused() -> None:
    both = {"generated": {"a": MADE | {"k": [2, 3]}, "a k=3": MADE}}
    with pytest.raises(SpecError, match="two data sets have the name a k=3"):
        parse_spec_file(document({"datasets": both}), "sweep.toml")


@pytest.mark.parametrize(("datasets", "message"), WRONG_DATA, ids=range(len(WRONG_DATA)))
def test_the_message_names_the_wrong_key_of_data(datasets: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec_file(document({"datasets": datasets}), "sweep.toml")
    assert str(caught.value).startswith(f"sweep.toml: {message}")


@pytest.mark.parametrize(("spec", "message"), REQUIRED)
def test_data_must_be_given(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec_file(document(spec), "sweep.toml")
    assert str(caught.value).startswith(f"sweep.toml: {message}")


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        small(seed=-1, restarts=-1, datasets=synthetic(["1000x6-4"], 0), p1=[0.5])
    assert [problem.key for problem in caught.value.problems if isinstance(problem, Problem)] == [
        "seed",
        "restarts",
        "datasets.synthetic.configs",
        "datasets.synthetic.count",
        "p1[0]",
    ]


MISSPELT = (
    ({"restart": 3}, "Did you mean restarts?"),
    ({"p1": {"strat": 1.1}}, "Did you mean start?"),
    ({"datasets": {"synthetic": {"config": "all", "count": 1}}}, "Did you mean configs?"),
    ({"normalisations": ["zscore"]}, "Did you mean 'z-score'?"),
)


@pytest.mark.parametrize(("changes", "hint"), MISSPELT)
def test_the_nearest_name_is_suggested(changes: dict[str, Any], hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        small(**changes)
    assert hint in str(caught.value)


def unreadable(folder: Path) -> Iterator[tuple[Path, str]]:
    yield folder / "none.toml", "No such file"
    yield folder, "Is a directory"
    binary = folder / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    yield binary, "utf-8"
    yield Path("a\x00b"), "null"
    broken = folder / "broken.toml"
    broken.write_text("seed = \n")
    yield broken, "line 1"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, reason in unreadable(tmp_path):
        with pytest.raises(SpecError) as caught:
            read_spec(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert reason in str(caught.value)


def test_kmeans_alone_needs_restarts() -> None:
    for count in (1, 2):
        for parts in combinations(("kmeans", "rescaled_kmeans"), count):
            with pytest.raises(SpecError, match=r"parts .*nothing is left to compute"):
                small(restarts=0, parts=parts)


def test_errors_can_be_pickled() -> None:
    with pytest.raises(SpecError) as caught:
        small(seed=-1)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.problems == caught.value.problems
