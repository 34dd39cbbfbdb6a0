"""Where a sweep runs. Each module connects to workers, and releases them at the end."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from distributed import Client

from workflows.compute.batch import job_client
from workflows.compute.job_settings import JobSettings
from workflows.compute.local import local_client
from workflows.compute.remote import Certificates, remote_client
from workflows.errors import InsecureSchedulerError, WorkersError

__all__ = [
    "Certificates",
    "InsecureSchedulerError",
    "JobSettings",
    "WorkersError",
    "Workplace",
    "job_client",
    "local_client",
    "remote_client",
]

#: Starts workers or connects to them when it is called; its ``with`` block releases them.
Workplace = Callable[[], AbstractContextManager[Client]]
