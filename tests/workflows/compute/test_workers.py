"""Workers that cannot take part are found before anything runs."""

import os
from pathlib import Path

import pytest

from storage.provenance import environment
from tests.faults import Program, scheduler_and_workers, small_sweep
from workflows.compute import WorkersError
from workflows.compute.probe import PROJECT, Probe, trouble_of
from workflows.compute.remote import as_address

SPEC = small_sweep(1)
OURS = environment()["versions"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Probe({**OURS, "numpy": "1.26.4"}, None), "has NumPy 1.26.4, not "),
        (Probe({**OURS, PROJECT: "9.9"}, None), "has imwk-sweep 9.9, not "),
        (
            Probe(OURS, "There is no cube."),
            "cannot use the cube. There is no cube. Give a location",
        ),
        (
            ModuleNotFoundError("No module named 'workflows'"),
            "No module named 'workflows'. Install the same version of imwk-sweep there.",
        ),
    ],
    ids=["NumPy", "version", "cube", "nothing installed"],
)
def test_the_message_says_why_a_worker_cannot_take_part(found: object, words: str) -> None:
    trouble = trouble_of(found)
    assert trouble is not None
    assert words in trouble


@pytest.mark.parametrize("scheduler", ["node1", "tls://node1", "tcp://node1:", "http://node1:80"])
def test_an_address_without_a_port_is_refused(scheduler: str) -> None:
    with pytest.raises(WorkersError, match="Give tls://HOST:PORT"):
        as_address(scheduler)


def test_another_minor_version_of_numpy_is_accepted() -> None:
    major = OURS["numpy"].split(".")[0]
    assert trouble_of(Probe({**OURS, "numpy": f"{major}.99.0"}, None)) is None


def submit(folder: Path, *options: str) -> tuple[int, str, str]:
    file = folder / "spec.toml"
    file.write_text(SPEC.to_toml())
    return Program("imwk", "submit", file, folder / "cube.zarr", *options).end()


@pytest.mark.slow
def test_a_worker_with_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    other = tmp_path / "site" / "imwk_sweep-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: imwk-sweep\nVersion: 0.0.1\n")
    workers = ({"PYTHONPATH": str(other.parent)},)
    with scheduler_and_workers(tmp_path, dict(os.environ), workers=workers) as (address, _):
        code, output, errors = submit(tmp_path, "--scheduler", address)
    assert (code, output) == (4, "")
    (line,) = errors.splitlines()
    assert line.startswith("Error: Worker tcp://127.0.0.1:")
    assert line.endswith(f"has imwk-sweep 0.0.1, not {OURS[PROJECT]}. Install the same version.")


@pytest.mark.slow
def test_a_scheduler_without_workers_is_one_line(tmp_path: Path) -> None:
    with scheduler_and_workers(tmp_path, dict(os.environ), workers=()) as (address, _):
        code, output, errors = submit(tmp_path, "--scheduler", address, "--wait", "0.02")
    assert (code, output) == (4, "")
    assert errors == (
        "Error: The scheduler had no worker for 0.02 minutes. Start workers with dask worker, or "
        "wait longer. See --wait.\n"
    )
