"""A scheduler with TLS lets in who has the right certificate, and nobody else."""

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
class Cluster:
    """A scheduler and two workers; what they accept, and what others have."""

    address: str
    ours: Certificates
    foreign: Certificates


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("tls")
    ours, foreign = (make_certificates(folder / name) for name in ("ours", "foreign"))
    with scheduler_and_workers(folder, dict(os.environ), *dask_options(ours)) as (address, _):
        yield Cluster(address, ours, foreign)


def submit(folder: Path, *options: str, **variables: str) -> tuple[int, str, str]:
    file = folder / "spec.toml"
    file.write_text(SPEC.to_toml())
    environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"} | variables
    cube = folder / "cube.zarr"
    return Program("imwk", "submit", file, cube, *options, environment=environment).end()


def as_options(files: Certificates) -> tuple[str, ...]:
    named = {"--tls-ca": files.ca, "--tls-cert": files.cert, "--tls-key": files.key}
    return tuple(str(word) for pair in named.items() for word in pair)


def test_certificates_are_as_strict_as_python_3_13_wants_them(cluster: Cluster) -> None:
    files = ("-CAfile", cluster.ours.ca, cluster.ours.cert)
    done = subprocess.run(["openssl", "verify", "-x509_strict", *files], check=False)
    assert done.returncode == 0
    assert Path(cluster.ours.key).stat().st_mode & 0o077 == 0


def test_the_right_certificate_works(cluster: Cluster, tmp_path: Path) -> None:
    assert cluster.address.startswith("tls://")
    code, _, errors = submit(tmp_path, "--scheduler", cluster.address, *as_options(cluster.ours))
    assert (code, "Warning" in errors) == (0, False), errors
    assert read_ledger(tmp_path / "cube.zarr").counts.missing == 0


def test_so_do_certificates_in_dasks_own_configuration(cluster: Cluster, tmp_path: Path) -> None:
    code, _, errors = submit(
        tmp_path,
        "--scheduler",
        cluster.address,
        DASK_DISTRIBUTED__COMM__TLS__CA_FILE=str(cluster.ours.ca),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT=str(cluster.ours.cert),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY=str(cluster.ours.key),
    )
    assert code == 0, errors


def test_a_sweep_can_be_left_to_a_scheduler_with_tls(cluster: Cluster, tmp_path: Path) -> None:
    options = ("--scheduler", cluster.address, *as_options(cluster.ours), "--detach")
    assert submit(tmp_path, *options)[0] == 0
    wait_until(lambda: not read_ledger(tmp_path / "cube.zarr").todo, "the cube is full", every=0.2)


def test_all_others_are_refused_in_one_line(cluster: Cluster, tmp_path: Path) -> None:
    plain = cluster.address.replace("tls://", "tcp://")
    wrong_ca = replace(cluster.ours, ca=cluster.foreign.ca)
    foreign = replace(cluster.foreign, ca=cluster.ours.ca)
    for address, options, words in (
        (cluster.address, as_options(wrong_ca), "has a certificate that your CA did not sign"),
        (cluster.address, as_options(foreign), "does not take your certificate"),
        (cluster.address, (), "needs certificates. Give --tls-ca, --tls-cert and --tls-key"),
        (plain, (), "refuses plain tcp. Give tls:// and certificates."),
    ):
        code, output, errors = submit(tmp_path, "--scheduler", address, *options)
        assert (code, output) == (4, "")
        (line,) = errors.splitlines()
        assert line.startswith("Error: ")
        assert words in line
    assert read_ledger(tmp_path / "cube.zarr").counts.done == 0


def test_plain_tcp_to_another_machine_must_be_asked_for(tmp_path: Path) -> None:
    elsewhere = ("--scheduler", "tcp://192.0.2.1:8786")  # an address that nobody has
    code, output, errors = submit(tmp_path, *elsewhere)
    assert (code, output) == (2, "")
    (line,) = errors.splitlines()
    assert "who reaches that port can run any code on its workers. Use tls://, or" in line
    code, _, errors = submit(
        tmp_path, *elsewhere, "--insecure", DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s"
    )
    assert code == 4
    warning, error = errors.splitlines()
    assert warning == (
        "Warning: tcp://192.0.2.1:8786 is not encrypted: who reaches that port can run any code on "
        "its workers."
    )
    assert error.startswith("Error: There is no Dask scheduler at tcp://192.0.2.1:8786.")
