import psutil

from workflows.clusters import local_client


def test_nothing_of_a_local_cluster_can_be_reached_from_other_machines() -> None:
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
