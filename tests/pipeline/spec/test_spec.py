"""Specs: equality, fingerprints, tiles, and how they are written."""

import hashlib
import json
import pickle
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.core.centres import CENTRES
from pipeline.core.imwk import DTYPES
from pipeline.core.normalise import NORMALISATIONS
from pipeline.datasets import CONFIGURATIONS
from pipeline.errors import SpecError
from pipeline.rules import RULES
from pipeline.score_facts import SCORES
from pipeline.spec import KEEP, PARTS, SweepSpec, Tile
from pipeline.spec.diff import diff
from pipeline.spec.exponents import describe_exponents, parse_exponents
from pipeline.spec.sources import TableFacts
from pipeline.spec.toml import parse_spec_file
from tests.pipeline.specs import SMALL, document, small, synthetic

PAPER = SweepSpec(datasets=synthetic("all", 50))
MINE = TableFacts(k=3, rows=40, features=2, labelled=True, sha256="0" * 64)


def some_of(names: Any) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(names)), min_size=1, unique=True)


grids = st.lists(st.integers(100, 900), min_size=1, max_size=6, unique=True).map(
    lambda hundredths: [value / 100 for value in hundredths]
)
hashes = st.integers(0, 2**256 - 1).map("{:064x}".format)
facts = st.builds(
    TableFacts,
    k=st.integers(1, 9),
    rows=st.integers(1, 999),
    features=st.integers(1, 99),
    labelled=st.booleans(),
    sha256=hashes,
    more=st.lists(hashes, max_size=3),
)
names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)
matrices = st.dictionaries(names, facts, min_size=1, max_size=3).map(lambda own: {"matrices": own})


def one_or_several(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.lists(values, min_size=1, max_size=3, unique=True)


generated = st.dictionaries(
    names,
    st.fixed_dictionaries(
        {
            "n": one_or_several(st.integers(100, 2000)),
            "m": one_or_several(st.integers(1, 30)),
            "k": one_or_several(st.integers(1, 5)),
            "noise": one_or_several(st.sampled_from(["uniform", "normal", "within-cluster"])),
            "count": st.integers(1, 9),
        },
        optional={
            "noise_share": one_or_several(st.decimals(0, 1, places=3).map(float)),
            "spread": st.just([1, 2.5]),
            "least": st.integers(1, 20),
        },
    ),
    min_size=1,
    max_size=2,
).map(lambda data: {"generated": data})
synthetic_data = st.builds(synthetic, some_of(CONFIGURATIONS), st.integers(1, 60))
specs = st.fixed_dictionaries(
    {
        "datasets": synthetic_data
        | matrices
        | generated
        | st.builds(lambda one, other: one | other, synthetic_data, matrices)
    },
    optional={
        "seed": st.integers(0, 2**63 - 1),
        "normalisations": some_of(NORMALISATIONS),
        "restarts": st.integers(1, 1000),
        "centre": st.sampled_from(list(CENTRES)),
        "dtype": st.sampled_from(list(DTYPES)),
        "parts": some_of(PARTS),
        "scores": some_of(SCORES).map(lambda names: ["silhouette", *set(names) - {"silhouette"}]),
        "keep": st.sampled_from([(), *([name] for name in KEEP), KEEP]),
        "p1": grids,
        "p2": grids,
    },
).map(lambda keys: SweepSpec(**keys))


@given(specs)
def test_a_spec_survives_toml_json_and_pickle(spec: SweepSpec) -> None:
    copies = (
        parse_spec_file(spec.to_toml(), "sweep.toml").sweep.spec,
        SweepSpec.model_validate(spec.model_dump(mode="json")),
        SweepSpec.model_validate_json(spec.model_dump_json()),
        pickle.loads(pickle.dumps(spec)),
    )
    for copy in copies:
        assert copy == spec
        assert copy.fingerprint == spec.fingerprint


@given(specs, specs)
def test_fingerprints_and_differences_tell_specs_apart(one: SweepSpec, other: SweepSpec) -> None:
    assert (one.fingerprint == other.fingerprint) == (one == other) == (not diff(one, other))


SAME: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"p1": {"start": 1.1, "stop": 5.0, "step": 0.1}}, {"p1": list(PAPER.p1)}),
    ({"p1": {"values": [1, 2, 3]}}, {"p1": {"start": 1, "stop": 3.5, "step": 1.0}}),
    ({"p2": [2.0, 1.5]}, {"p2": {"values": [1.5, 2]}}),
    ({"datasets": synthetic("all", 2)}, {"datasets": synthetic(list(CONFIGURATIONS)[::-1], 2)}),
    ({"normalisations": ["range", "z-score"]}, {"normalisations": ["z-score", "range"]}),
    ({"parts": PARTS, "restarts": 0}, {"parts": ["imwk", "rescaled_imwk"], "restarts": 0}),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equivalent_specs_are_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert small(**one) == small(**other)
    assert small(**one).fingerprint == small(**other).fingerprint


def test_the_order_of_keys_and_comments_do_not_matter() -> None:
    text = document(dict(reversed(SMALL.items())))
    spec = parse_spec_file("# mine\n" + text.replace("\n", " # so\n"), "sweep.toml").sweep.spec
    assert spec.fingerprint == small().fingerprint


CHANGES: dict[str, Any] = {
    "seed": 2021,
    "normalisations": ["z-score"],
    "restarts": 4,
    "centre": "fixed-step",
    "dtype": "float32",
    "parts": ["imwk"],
    "datasets.synthetic.configs": synthetic(["1000x6-3 WCN"], 1),
    "datasets.synthetic.count": synthetic(["1000x6-3"], 2),
    "scores": ["silhouette"],
    "keep": ["labels"],
    "datasets.matrices.mine": synthetic(["1000x6-3"], 1) | {"matrices": {"mine": MINE}},
    "p1": [1.5],
    "p2": [1.4, 3.0],
    "rules": 1,
}


@pytest.mark.parametrize("key", CHANGES)
def test_every_key_that_affects_results_changes_the_fingerprint(key: str) -> None:
    # Without scores and keep, which tables have by default and which would differ too
    changed = small(**({"scores": [], "keep": []} | {key.split(".")[0]: CHANGES[key]}))
    assert changed.fingerprint != small().fingerprint
    (difference,) = diff(small(), changed)
    assert difference.key == key


def test_regression_pins_of_specs_with_scores_of_earlier_versions() -> None:
    """Pinned from the output of version 0.1.0: its cubes store these fingerprints."""
    own, stored = {"matrices": {"mine": MINE}}, SweepSpec.from_stored
    both, last = ["silhouette", "calinski-harabasz"], ["calinski-harabasz"]
    assert stored(SMALL).fingerprint.startswith("3a0074ea2fd62134")
    assert stored({**SMALL, "scores": both}).fingerprint.startswith("870b44ca2d03ad27")
    for scores, pin in ((both, "fd6956c85bb6240f"), (last, "d06d2f4178d8438e")):
        assert stored({"datasets": own, "scores": scores}).fingerprint.startswith(pin)


def test_regression_pin_of_the_papers_fingerprint() -> None:
    """Pinned from our own output: a cube stores the fingerprint of its sweep."""
    earlier = PAPER.model_copy(update={"rules": 1})
    assert earlier.fingerprint.startswith("0c695ebe97fde6b6476c4036555459c4")
    assert PAPER.fingerprint.startswith("bc22d3808903138901d6c6ec5db17b73")


def test_rules_are_those_of_the_software_and_not_a_key_of_spec_files() -> None:
    assert "rules" not in small().to_toml()
    assert (small().rules, parsed(small(rules=1)).rules) == (RULES, RULES)
    with pytest.raises(SpecError, match=r"rules = 2: unknown key"):
        parse_spec_file("rules = 2\n" + small().to_toml(), "sweep.toml")
    assert SweepSpec.from_stored(small().model_dump(mode="json")) == small()


def test_the_defaults_are_those_of_the_paper() -> None:
    assert PAPER.normalisations == ("z-score", "range", "min-max", "unit-length")
    assert PAPER.restarts == 100
    assert (
        PAPER.p1
        == PAPER.p2
        == tuple(float(f"{tenths // 10}.{tenths % 10}") for tenths in range(11, 51))
    )


@given(
    start=st.integers(1000, 9000),
    count=st.integers(1, 200),
    step=st.integers(1, 500),
    decimals=st.integers(0, 3),
    beyond=st.integers(0, 499),
)
def test_stepped_exponents_are_the_floats_that_a_person_writes(
    start: int, count: int, step: int, decimals: int, beyond: int
) -> None:
    def written(units: int) -> float:
        return float(str(Decimal(units).scaleb(-decimals)))

    stop = start + (count - 1) * step + beyond % step
    table = {"start": written(start), "stop": written(stop), "step": written(step)}
    assert parse_exponents(table) == tuple(written(start + i * step) for i in range(count))


def test_the_description_of_a_grid_has_its_step() -> None:
    assert describe_exponents(PAPER.p1) == "1.1 to 5.0 in steps of 0.1"
    assert describe_exponents((1.1, 1.2, 1.4, 1.5)) == "1.1, 1.2, 1.4, 1.5"


def test_tiles_are_breadth_first_over_data_sets() -> None:
    tiles = PAPER.tiles
    assert len(tiles) == len(set(tiles)) == 600 * 4
    first = tiles[: 12 * 4]
    assert first == tuple(Tile(c, 0, n) for c, n in product(CONFIGURATIONS, PAPER.normalisations))
    assert [tile.dataset for tile in tiles] == sorted(tile.dataset for tile in tiles)


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        small().seed = 1  # type: ignore[misc]


def test_a_table_is_a_configuration_of_one_data_set() -> None:
    spec = small(datasets=synthetic(["1000x6-3"], 2) | {"matrices": {"b": MINE, "a": MINE}})
    assert spec.configs == ("1000x6-3", "a", "b")
    assert [spec.dataset_count(config) for config in spec.configs] == [2, 1, 1]
    assert [spec.shape(config) for config in spec.configs] == [(1000, 6, 3), (40, 2, 3), (40, 2, 3)]
    assert [(tile.config, tile.dataset) for tile in spec.tiles] == [
        ("1000x6-3", 0),
        ("a", 0),
        ("b", 0),
        ("1000x6-3", 1),
    ]


@pytest.mark.parametrize(
    "change", [{"k": 4}, {"sha256": "1" * 64}, {"labelled": False}, {"rows": 41}]
)
def test_data_and_k_are_part_of_the_fingerprint(change: dict[str, Any]) -> None:
    one = small(datasets={"matrices": {"mine": MINE}})
    other = small(datasets={"matrices": {"mine": MINE.model_copy(update=change)}})
    assert one.fingerprint != other.fingerprint
    assert [difference.key for difference in diff(one, other)] == ["datasets.matrices.mine"]


def test_configurations_without_labels_are_listed() -> None:
    bare = MINE.model_copy(update={"labelled": False})
    spec = small(datasets={"matrices": {"mine": MINE, "bare": bare}})
    assert spec.unlabelled == ("bare",)
    assert not small().unlabelled


def test_tables_are_kept_by_default_unless_a_cube_has_decided() -> None:
    table = synthetic(["1000x6-3"], 1) | {"matrices": {"mine": MINE}}
    for spec in (small(datasets=table), parsed(small(datasets=table, keep=[]), "keep = []\n")):
        assert spec.keep == KEEP
        assert spec.with_defaults_of(small()).keep == ()
    explicit = parsed(small(datasets=table, keep=["labels"]))
    assert explicit.with_defaults_of(small()).keep == ("labels",)


def parsed(spec: SweepSpec, without: str = "") -> SweepSpec:
    """Return the spec of a file, from which a line may be left out."""
    assert without in spec.to_toml()
    return parse_spec_file(spec.to_toml().replace(without, ""), "sweep.toml").sweep.spec


def test_a_stored_spec_without_the_key_keeps_nothing_and_has_its_old_fingerprint() -> None:
    spec = small(datasets={"matrices": {"mine": MINE}}, keep=[], rules=1)
    stored = spec.model_dump(mode="json", exclude={"keep", "rules"})
    assert SweepSpec.from_stored(stored) == spec
    keys = json.dumps(stored, sort_keys=True).encode()
    assert SweepSpec.from_stored(stored).fingerprint == hashlib.sha256(keys).hexdigest()
