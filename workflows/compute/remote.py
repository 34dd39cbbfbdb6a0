"""Workers of a Dask scheduler that is already running."""

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

#: The number of minutes to wait for the first worker of a scheduler.
WAIT = 10.0


@dataclass(frozen=True)
class Certificates:
    """The PEM files for TLS: the authority's certificate, and this user's certificate and key."""

    ca: str | PathLike[str]
    cert: str | PathLike[str]
    key: str | PathLike[str]

    def security(self) -> Security:
        """Return them as the object that Dask takes."""
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
    wait: float = WAIT,
) -> Iterator[Client]:
    """Connect to a scheduler that is already running; leave it running at the end.

    Parameters
    ----------
    scheduler : str
        The address of the scheduler, such as ``tls://node1:8786``.
    certificates : Certificates, optional
        The files for ``tls://``. By default those of Dask's configuration.
    insecure : bool
        Whether to allow ``tcp://`` to another machine; see `danger`.
    wait : float
        The number of minutes to wait for the first worker.

    Yields
    ------
    distributed.Client
        A client with at least one worker.

    Raises
    ------
    InsecureSchedulerError
        If the connection is not encrypted, and `insecure` is False.
    WorkersError
        If there is no scheduler, it refuses the connection, or it has no workers.

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
        raise InsecureSchedulerError(
            f"{found} Use tls://, or allow connections without TLS explicitly.", "insecure"
        )
    try:
        client = Client(address, security=certificates and certificates.security())
    except (OSError, ValueError, TypeError) as error:
        raise _connection_error(address, error) from error
    # Dask would log a lost scheduler too, but the code that waits for results raises an error.
    with silence_logging_cmgr(logging.CRITICAL), client:
        _wait_for_worker(client, wait)
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
        raise WorkersError(
            f"{scheduler} is not the address of a scheduler. Give tls://HOST:PORT or "
            "tcp://HOST:PORT.",
        )
    return address


def danger(address: str) -> str | None:
    """Return why a connection is dangerous, or None if it is encrypted or stays on this machine.

    Examples
    --------
    >>> danger("tls://192.0.2.1:8786") is danger("tcp://127.0.0.1:8786") is None
    True
    >>> danger("tcp://192.0.2.1:8786")
    'tcp://192.0.2.1:8786 is not encrypted. Anyone who can reach it can run code on its workers.'
    """
    parts = urlsplit(address)
    if parts.scheme == "tls" or _is_this_machine(parts.hostname or ""):
        return None
    return f"{address} is not encrypted. Anyone who can reach it can run code on its workers."


def _wait_for_worker(client: Client, wait: float) -> None:
    try:
        client.wait_for_workers(1, timeout=60 * wait)
    except TimeoutError as error:
        raise WorkersError(
            f"The scheduler had no worker for {wait:g} minutes. Start workers with dask worker, or "
            "wait longer.",
            "wait",
        ) from error


def _is_this_machine(host: str) -> bool:
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ip_address(str(each)).is_loopback for each in found)


def _connection_error(address: str, error: Exception) -> WorkersError:
    """Return an error that explains why there is no connection.

    Dask raises a different error for each reason.
    """
    if isinstance(error, FileNotFoundError):
        return WorkersError(
            f"A certificate or key for {address} does not exist. Check the names of the files.",
            "certificates",
        )
    if isinstance(error, TypeError):  # Dask has no certificates
        return WorkersError(
            f"{address} needs certificates. Give them, or set distributed.comm.tls in Dask's "
            "configuration.",
            "certificates",
        )
    if isinstance(error.__cause__, SSLCertVerificationError):
        return WorkersError(
            f"The certificate of the scheduler at {address} is not signed by your authority. Check "
            "the authority's certificate, and that this is the right scheduler.",
            "certificates",
        )
    if "Timed out" in str(error):
        return WorkersError(
            f"There is no Dask scheduler at {address}. Start one with dask scheduler, and give the "
            "address that it prints, such as tcp://node1:8786.",
        )
    if urlsplit(address).scheme == "tls":
        return WorkersError(
            f"The scheduler at {address} does not accept your certificate, or does not use TLS. "
            "Check your certificate and key: the scheduler's authority must have signed them.",
            "certificates",
        )
    return WorkersError(
        f"The scheduler at {address} refuses plain tcp. Give a tls:// address and certificates.",
        "certificates",
    )
