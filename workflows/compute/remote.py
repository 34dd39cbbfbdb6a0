"""Workers of a Dask scheduler that is running already."""

import logging
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from os import PathLike
from ssl import SSLCertVerificationError
from urllib.parse import urlsplit

from distributed import Client, Security
from distributed.utils import silence_logging_cmgr

from workflows.errors import InsecureSchedulerError, WorkersError

#: Minutes that a scheduler may take to get its first worker.
PATIENCE = 10.0

_TLS_OPTIONS = (
    "Give --tls-ca, --tls-cert and --tls-key, or set distributed.comm.tls in Dask's configuration."
)


@dataclass(frozen=True)
class Certificates:
    """Files for TLS: who signs for the cluster, and who we are; PEM, as Dask wants them."""

    ca: str | PathLike[str]
    cert: str | PathLike[str]
    key: str | PathLike[str]

    def security(self) -> Security:
        """Return them as Dask wants them."""
        return Security(
            require_encryption=True,
            tls_ca_file=str(self.ca),
            tls_client_cert=str(self.cert),
            tls_client_key=str(self.key),
        )


@contextmanager
def remote_client(
    scheduler: str,
    certificates: Certificates | None = None,
    *,
    insecure: bool = False,
    patience: float = PATIENCE,
) -> Iterator[Client]:
    """Connect to a scheduler that is running already, and leave it running.

    Parameters
    ----------
    scheduler : str
        Its address, such as ``tls://node1:8786``.
    certificates : Certificates, optional
        For ``tls://``; those of Dask's configuration unless given.
    insecure : bool
        Allow ``tcp://`` to another machine; `danger` says what that means.
    patience : float
        Minutes to wait for its first worker.

    Yields
    ------
    distributed.Client
        With a worker at least.

    Raises
    ------
    InsecureSchedulerError
        If others could use the connection, and that is not allowed.
    WorkersError
        If there is no scheduler, it refuses us, or it has no workers.

    Examples
    --------
    >>> from workflows.compute.local import local_client
    >>> with local_client(workers=1) as local, remote_client(local.scheduler.address) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    address = as_address(scheduler)
    found = danger(address)
    if found and not insecure:
        raise InsecureSchedulerError(f"{found} Use tls://, or say --insecure.")
    try:
        client = Client(address, security=certificates and certificates.security())
    except (OSError, ValueError, TypeError) as error:
        raise WorkersError(_why_not(address, error)) from error
    # A lost scheduler is said once, by who waits for results.
    with silence_logging_cmgr(logging.CRITICAL), client:
        wait_for_worker(client, patience)
        yield client


def as_address(scheduler: str) -> str:
    """Return an address with its protocol.

    Examples
    --------
    >>> as_address("node1:8786")
    'tcp://node1:8786'
    """
    address = scheduler if "://" in scheduler else f"tcp://{scheduler}"
    if urlsplit(address).scheme not in ("tcp", "tls") or not re.search(r":\d+/?$", address):
        raise WorkersError(f"{scheduler} is no scheduler. Give tls://HOST:PORT or tcp://HOST:PORT.")
    return address


def danger(address: str) -> str | None:
    """Say what plain tcp to another machine means; None if the connection is safe.

    Examples
    --------
    >>> danger("tls://192.0.2.1:8786") is danger("tcp://127.0.0.1:8786") is None
    True
    >>> danger("tcp://192.0.2.1:8786")
    'tcp://192.0.2.1:8786 is not encrypted: who reaches that port can run any code on its workers.'
    """
    parts = urlsplit(address)
    if parts.scheme == "tls" or _is_this_machine(parts.hostname or ""):
        return None
    return f"{address} is not encrypted: who reaches that port can run any code on its workers."


def wait_for_worker(client: Client, patience: float) -> None:
    """Wait for the first worker, so many minutes."""
    try:
        client.wait_for_workers(1, timeout=60 * patience)
    except TimeoutError as error:
        raise WorkersError(
            f"The scheduler had no worker for {patience:g} minutes. "
            "Start some with dask worker, or wait longer with --wait MINUTES."
        ) from error


def _is_this_machine(host: str) -> bool:
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(str(each)).is_loopback for each in found)


def _why_not(address: str, error: Exception) -> str:
    """Say why there is no connection, by what Dask raises for each reason."""
    if isinstance(error, FileNotFoundError):
        return f"A certificate or key for {address} is not there. Check the files' names."
    if isinstance(error, TypeError):  # Dask has no certificates
        return f"{address} needs certificates. {_TLS_OPTIONS}"
    if isinstance(error.__cause__, SSLCertVerificationError):
        return (
            f"The scheduler at {address} has a certificate that your CA did not sign. Check "
            "--tls-ca, and that it is the right scheduler."
        )
    if "Timed out" in str(error):
        return (
            f"There is no Dask scheduler at {address}. Start one with dask scheduler, and give the "
            "address that it prints, such as tcp://node1:8786."
        )
    if urlsplit(address).scheme == "tls":
        return (
            f"The scheduler at {address} does not take your certificate, or speaks no TLS. Check "
            "--tls-cert and --tls-key: its CA must have signed them."
        )
    return f"The scheduler at {address} refuses plain tcp. Give tls:// and certificates."
