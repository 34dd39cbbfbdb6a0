"""A real S3 server, SeaweedFS, that only this machine can reach; it checks every signature."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from obstore.exceptions import BaseError
from obstore.store import S3Store

from tests.faults import Program, wait_until

BUCKET = "sweeps"
#: Long enough to be recognised where they must not occur.
SECRETS = {name: f"secret-of-the-{name}-5f1c" for name in ("owner", "writer", "reader")}


@dataclass(frozen=True)
class Server:
    """The address of the server, and the environment variables of its users."""

    endpoint: str

    def environment(self, user: str = "writer", **changes: str) -> dict[str, str]:
        """Return the environment variables with which a program can use the server."""
        settings = {
            "AWS_ACCESS_KEY_ID": user,
            "AWS_SECRET_ACCESS_KEY": SECRETS[user],
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }
        return os.environ | settings | changes


@contextmanager
def seaweed(folder: Path) -> Iterator[Server]:
    """Start a server with one bucket; its writer cannot make other buckets."""
    users = [
        _user("owner", ["Admin"]),
        _user("writer", [f"{right}:{BUCKET}" for right in ("Read", "Write", "List", "Tagging")]),
        _user("reader", [f"{right}:{BUCKET}" for right in ("Read", "List")]),
    ]
    (folder / "s3.json").write_text(json.dumps({"identities": users}))
    (folder / "data").mkdir()
    parts = ("master", "volume", "filer", "s3")
    numbers = free_ports(2 * len(parts))
    ports = dict(zip(parts, numbers[::2], strict=True))
    inner = dict(zip(parts, numbers[1::2], strict=True))
    program = Program(
        "weed",
        "server",
        f"-dir={folder / 'data'}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=20",
        "-s3",
        f"-s3.config={folder / 's3.json'}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        *(f"-{part}.port={port}" for part, port in ports.items()),
        *(f"-{part}.port.grpc={port}" for part, port in inner.items()),
    )
    try:
        endpoint = f"http://127.0.0.1:{ports['s3']}"
        wait_until(lambda: _made_bucket(endpoint), "the server has made a bucket")
        yield Server(endpoint)
    finally:
        program.clean_up()


def free_ports(count: int) -> list[int]:
    """Return ports that are not in use."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def _user(name: str, actions: list[str]) -> dict[str, object]:
    keys = {"accessKey": name, "secretKey": SECRETS[name]}
    return {"name": name, "credentials": [keys], "actions": actions}


def _made_bucket(endpoint: str) -> bool:
    store = S3Store(
        BUCKET,
        endpoint=endpoint,
        access_key_id="owner",
        secret_access_key=SECRETS["owner"],
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    try:
        store.put("first", b"")  # the first object of the owner makes the bucket
    except BaseError:
        return False
    return True
