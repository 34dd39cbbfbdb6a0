"""The command compare, on cubes with made-up results."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import sem

from pipeline import SweepSpec, register_clusterer, register_score
from pipeline.spec.plugins import PluginFacts
from pipeline.spec.sweep import Sweep
from storage import create_cube, open_cube
from tests.own_tables import small_table
from tests.storage.made_up import fill, small_spec
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import compare, submit
from workflows.errors import ArgumentError
from workflows.pairs.comparing import refuse_other_data


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("compare") / "a.zarr", count=4)


def filled(location: Path, **changes: Any) -> Path:
    create_cube(location, small_spec(**changes))
    fill(location)
    return location


def rows(*arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output_of("compare", *arguments, "--json"))["rows"]
    return found


def test_two_algorithms_at_their_best_exponents(cube: Path) -> None:
    opened = open_cube(cube).load()
    first = opened.rescaled_imwk_ari.max(["p1", "p2"])
    second = opened.kmeans_ari.mean("restart")
    found = rows(cube, "rescaled_imwk", "kmeans")
    assert [row["config"] for row in found] == ["1000x6-3", "1000x12-6", "all"] * 2
    for row in found:
        where: dict[str, Any] = {"normalisation": row["normalisation"]}
        if row["config"] != "all":
            where["config"] = row["config"]
        difference = (first - second).sel(where).values.ravel()
        assert row["pairs"] == len(difference)
        assert row["difference"] == pytest.approx(difference.mean())
        assert row["standard_error"] == pytest.approx(sem(difference))


def test_given_exponents_and_the_best_on_average(cube: Path) -> None:
    opened = open_cube(cube).load().sel(config="1000x6-3", normalisation="range")
    where = ("--config", "1000x6-3", "--normalisation", "range")
    (row,) = rows(cube, "rescaled_imwk", "imwk", "--p1", 1.4, "--p2", 3, *where)
    expected = opened.rescaled_imwk_ari.sel(p1=1.4, p2=3) - opened.imwk_ari.sel(p1=1.4)
    assert row["difference"] == pytest.approx(float(expected.mean()))
    (row,) = rows(cube, "rescaled_imwk", "imwk", "--average", *where)
    best = opened.rescaled_imwk_ari.mean("dataset").max() - opened.imwk_ari.mean("dataset").max()
    assert row["difference"] == pytest.approx(float(best))


def test_two_cubes_and_what_only_one_has(cube: Path, tmp_path: Path) -> None:
    other = filled(tmp_path / "b.zarr", configs=["1000x6-3", "1000x6-3 +3NF"], count=3)
    for row in rows(cube, other):
        assert (row["config"], row["pairs"], row["difference"]) == ("1000x6-3", 3, 0)
        assert (row["better"], row["worse"], row["p_value"]) == (0, 0, 1)
    text = " ".join(output_of("compare", cube, other, "--algorithm", "imwk").split())
    assert "Only one of the cubes has 1000x12-6, 1000x6-3 +3NF; left out." in text


def test_formats(cube: Path) -> None:
    table = list(
        csv.DictReader(StringIO(output_of("compare", cube, "imwk", "kmeans", "--format", "csv")))
    )
    found = compare(cube, algorithms=("imwk", "kmeans"))
    assert [float(row["difference"]) for row in table] == found.rows.difference.tolist()
    shown = f"{found.rows.difference[0]:+.4f}"
    for style in ("terminal", "markdown", "latex"):
        text = output_of("compare", cube, "imwk", "kmeans", "--format", style)
        assert shown in text
        assert "best for each data set" in " ".join(text.split())
    assert r"imwk\_ari against kmeans\_ari, range" in text


def test_other_data_under_one_name_make_no_pairs(cube: Path, tmp_path: Path) -> None:
    assert_refused(
        imwk("compare", cube, filled(tmp_path / "b.zarr", seed=1)),
        "different data under the name 1000x6-3",
    )
    cubes = []
    for number in (1, 2):
        table = small_table(3)
        table.X[0, 0] += number
        sweep = Sweep.of({"my": table}, k=3, p1=[2], p2=[3], restarts=0, normalisations=["range"])
        create_cube(tmp_path / f"{number}.zarr", sweep.spec, sweep.tables)
        cubes.append(tmp_path / f"{number}.zarr")
    assert_refused(imwk("compare", *cubes), "different data under the name my")


def empty(location: Path, **datasets: Any) -> Path:
    """Create a cube of some data, without results."""
    made_by = [PluginFacts(kind="generator", name=name, version="1") for name in ("disks", "rings")]
    create_cube(location, SweepSpec(datasets=datasets, plugins=made_by, p1=[2], p2=[2]))
    return location


GENERATED = {"n": 100, "m": 4, "k": 2, "count": 2, "noise": "uniform"}
RINGS = {"generator": "disks", "count": 2, "rows": 9, "features": 2, "k": 2}


@pytest.mark.parametrize(
    ("source", "one", "change"),
    [
        ("generated", GENERATED, {"noise": "normal"}),
        ("generated", GENERATED, {"noise": "within-cluster", "m": 6}),
        ("generated", GENERATED, {"spread": [0.5, 9]}),
        ("generated", GENERATED, {"least": 10}),
        ("plugin", RINGS, {"parameters": {"radius": 2}}),
        ("plugin", RINGS, {"generator": "rings"}),
    ],
)
def test_generated_data_with_other_parameters_make_no_pairs(
    source: str, one: dict[str, Any], change: dict[str, Any], tmp_path: Path
) -> None:
    made = [
        empty(tmp_path / f"{number}.zarr", **{source: {"mine": {**one, **changed}}})
        for number, changed in enumerate([{}, change, {"count": 5}])
    ]
    with pytest.raises(ArgumentError, match="different data under the name mine"):
        compare(made[0], made[1])
    assert compare(made[0], made[2]).rows.empty


def test_replicates_are_compared_as_far_as_both_cubes_have_them() -> None:
    facts = {"k": 2, "rows": 9, "features": 2, "labelled": True}
    made = [
        SweepSpec(datasets={"matrices": {"mine": {**facts, "sha256": first, "more": more}}})
        for first, more in (("a" * 64, ["b" * 64]), ("a" * 64, []), ("a" * 64, ["c" * 64]))
    ]
    refuse_other_data(made[0], made[1])
    refuse_other_data(made[1], made[2])
    with pytest.raises(ArgumentError, match="different data under the name mine"):
        refuse_other_data(made[0], made[2])


def test_scores_and_clusterers_of_plug_ins(tmp_path: Path) -> None:
    register_clusterer("two-halves", lambda X, *_: X[:, 0] > X[:, 0].mean(), version="1")
    register_score("most", lambda _, labels: max(labels), version="1", higher_is_better=False)
    data = {"generated": {"mine": {"n": 40, "m": 2, "k": 2, "count": 2, "least": 2}}}
    keys: dict[str, Any] = {"p1": [2], "p2": [2], "restarts": 2, "normalisations": ["range"]}
    spec = SweepSpec(datasets=data, clusterers=["two-halves"], scores=["most"], **keys)
    submit(spec, tmp_path / "cube.zarr", workers=0)
    (row,) = rows(tmp_path / "cube.zarr", "two-halves", "kmeans", "--score", "most")
    assert (row["first"], row["second"], row["difference"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Give two cubes, or a cube and two algorithms."),
        (["imwk", "imwk"], "Give two different algorithms, or two cubes."),
        (["imwk", "kmean"], "Did you mean 'kmeans_ari'?"),
        (["imwk", "kmeans", "--p2", "3"], "Neither of the compared results depends on p2."),
        (["imwk", "kmeans", "--p1", "7"], "p1 = 7.0 is not on the grid"),
        (["imwk", "kmeans", "--score", "info"], "its spec does not name info"),
        (["imwk", "kmeans", "--score", "arri"], "Did you mean 'ari'?"),
    ],
)
def test_mistakes_are_explained(cube: Path, arguments: list[str], words: str) -> None:
    assert_refused(imwk("compare", cube, *arguments), words)


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    create_cube(tmp_path / "empty.zarr", small_spec())
    found = compare(tmp_path / "empty.zarr", algorithms=("imwk", "kmeans"))
    assert found.rows.empty
    assert "no data set for which both" in output_of(
        "compare", tmp_path / "empty.zarr", "imwk", "kmeans"
    )
