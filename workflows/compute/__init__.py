"""Where a sweep runs: each module gives a client of workers, and lets them go at the end."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from distributed import Client

from workflows.compute.local import local_client
from workflows.compute.remote import Certificates, remote_client
from workflows.errors import InsecureSchedulerError, WorkersError

__all__ = [
    "Certificates",
    "InsecureSchedulerError",
    "WorkersError",
    "Workplace",
    "local_client",
    "remote_client",
]

#: Starts or reaches workers when it is called, and lets them go when its ``with`` block ends.
Workplace = Callable[[], AbstractContextManager[Client]]
