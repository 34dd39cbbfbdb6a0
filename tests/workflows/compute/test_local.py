from pathlib import Path
from time import monotonic, sleep

import dask
import psutil
import pytest
from distributed import Worker

from pipeline.errors import SchedulerLostError
from pipeline.spec import SweepSpec
from workflows import submit
from workflows.compute import local_client
from workflows.compute.worker_settings import HEARTBEAT
from workflows.errors import WorkersError
from workflows.sweep import Event, Started


def test_local_workers_cannot_be_reached_from_other_machines() -> None:
    with local_client(workers=1) as client:
        assert client.dashboard_link
        this = psutil.Process()
        family = [this, *this.children(recursive=True)]
        listening = {
            connection.laddr.ip
            for process in family
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert listening == {"127.0.0.1"}


def test_workers_send_rare_heartbeats() -> None:
    def milliseconds(dask_worker: Worker) -> float:
        return dask_worker.periodic_callbacks["heartbeat"].callback_time

    with local_client(workers=1) as client:
        (worker,) = client.nthreads()
        deadline = monotonic() + 30
        while client.run(milliseconds)[worker] != 1000 * HEARTBEAT and monotonic() < deadline:
            sleep(0.1)
        assert client.run(milliseconds) == {worker: 1000 * HEARTBEAT}


def test_workers_that_cannot_start_are_an_error() -> None:
    with (
        dask.config.set({"distributed.worker.preload": ["no_such_module"]}),
        pytest.raises(WorkersError, match="do not start"),
        local_client(workers=1),
    ):
        pass


@pytest.mark.slow
def test_a_sweep_whose_workers_never_come_back_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflows.compute.local.GIVE_UP_AFTER", 8.0)
    data = {"synthetic": {"configs": ["1000x6-3"], "count": 9}}
    spec = SweepSpec.model_validate({"datasets": data, "p1": [2], "p2": [2], "restarts": 1})

    def forbid_workers(event: Event) -> None:
        if isinstance(event, Started):
            dask.config.set({"distributed.worker.preload": ["no_such_module"]})
            for process in set(psutil.Process().children()) - before:
                if "spawn_main" in " ".join(process.cmdline()):
                    process.kill()

    before = set(psutil.Process().children())
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "2s"}),
        dask.config.set({"distributed.worker.preload": []}),  # restored afterwards
        pytest.raises(SchedulerLostError),
    ):
        submit(spec, tmp_path / "cube.zarr", workers=1, on_event=forbid_workers)
