"""A scheduler with TLS accepts the right certificate only."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from storage import read_ledger
from tests.faults import Program, scheduler_and_workers, small_sweep, wait_until
from tests.workflows.compute.certificates import dask_options, make_certificates
from workflows.compute import Certificates

pytestmark = pytest.mark.slow

SPEC = small_sweep(1)


@dataclass(frozen=True)
class Scheduler:
    """A scheduler with two workers, the certificates that it accepts, and other certificates."""

    address: str
    ours: Certificates
    foreign: Certificates


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    folder = tmp_path_factory.mktemp("tls")
    ours, foreign = (make_certificates(folder / name) for name in ("ours", "foreign"))
    with scheduler_and_workers(folder, dict(os.environ), *dask_options(ours)) as (address, _):
        yield Scheduler(address, ours, foreign)


def submit(folder: Path, *options: str, **variables: str) -> tuple[int, str, str]:
    file = folder / "spec.toml"
    file.write_text(SPEC.to_toml())
    environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"} | variables
    cube = folder / "cube.zarr"
    return Program("imwk", "submit", file, cube, *options, environment=environment).end()


def as_options(files: Certificates) -> tuple[str, ...]:
    named = {"--tls-ca": files.ca, "--tls-cert": files.cert, "--tls-key": files.key}
    return tuple(str(word) for pair in named.items() for word in pair)


def test_certificates_are_as_strict_as_python_3_13_wants_them(scheduler: Scheduler) -> None:
    files = ("-CAfile", scheduler.ours.ca, scheduler.ours.cert)
    done = subprocess.run(["openssl", "verify", "-x509_strict", *files], check=False)
    assert done.returncode == 0
    assert Path(scheduler.ours.key).stat().st_mode & 0o077 == 0


def test_the_right_certificate_works(scheduler: Scheduler, tmp_path: Path) -> None:
    assert scheduler.address.startswith("tls://")
    code, _, errors = submit(
        tmp_path, "--scheduler", scheduler.address, *as_options(scheduler.ours)
    )
    assert (code, "Warning" in errors) == (0, False), errors
    assert read_ledger(tmp_path / "cube.zarr").counts.missing == 0


def test_certificates_in_dasks_configuration_work(scheduler: Scheduler, tmp_path: Path) -> None:
    code, _, errors = submit(
        tmp_path,
        "--scheduler",
        scheduler.address,
        DASK_DISTRIBUTED__COMM__TLS__CA_FILE=str(scheduler.ours.ca),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT=str(scheduler.ours.cert),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY=str(scheduler.ours.key),
    )
    assert code == 0, errors


def test_a_sweep_can_be_detached_with_tls(scheduler: Scheduler, tmp_path: Path) -> None:
    options = ("--scheduler", scheduler.address, *as_options(scheduler.ours), "--detach")
    assert submit(tmp_path, *options)[0] == 0
    wait_until(lambda: not read_ledger(tmp_path / "cube.zarr").todo, "the cube is full", every=0.2)


def test_other_connections_are_refused_in_one_line(scheduler: Scheduler, tmp_path: Path) -> None:
    plain = scheduler.address.replace("tls://", "tcp://")
    wrong_ca = replace(scheduler.ours, ca=scheduler.foreign.ca)
    foreign = replace(scheduler.foreign, ca=scheduler.ours.ca)
    for address, options, words in (
        (scheduler.address, as_options(wrong_ca), "is not signed by your authority"),
        (scheduler.address, as_options(foreign), "does not accept your certificate"),
        (scheduler.address, (), "needs certificates. Give them, or"),
        (plain, (), "refuses plain tcp. Give a tls:// address and certificates."),
    ):
        code, output, errors = submit(tmp_path, "--scheduler", address, *options)
        assert (code, output) == (4, "")
        (line,) = errors.splitlines()
        assert line.startswith("Error: ")
        assert words in line
        assert line.endswith(" See --tls-ca, --tls-cert and --tls-key.")
    assert read_ledger(tmp_path / "cube.zarr").counts.done == 0


def test_plain_tcp_to_another_machine_must_be_allowed_explicitly(tmp_path: Path) -> None:
    elsewhere = ("--scheduler", "tcp://192.0.2.1:8786")  # an address that no machine has
    code, output, errors = submit(tmp_path, *elsewhere)
    assert (code, output) == (2, "")
    (line,) = errors.splitlines()
    assert "Anyone who can reach it can run code on its workers. Use tls://, or" in line
    assert line.endswith(" See --insecure.")
    code, _, errors = submit(
        tmp_path, *elsewhere, "--insecure", DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s"
    )
    assert code == 4
    warning, error = errors.splitlines()
    assert warning == (
        "Warning: tcp://192.0.2.1:8786 is not encrypted. Anyone who can reach it can run code on "
        "its workers."
    )
    assert error.startswith("Error: There is no Dask scheduler at tcp://192.0.2.1:8786.")
