"""A real data set that follows a rule, and a server in place of UCI's."""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import product
from threading import Thread


def balance_scale() -> bytes:
    """Return UCI's file balance-scale.data: the side to which a scale tips, for all weights."""
    lines = []
    for left, left_arm, right, right_arm in product(range(1, 6), repeat=4):
        torque = left * left_arm - right * right_arm
        side = "B" if torque == 0 else "L" if torque > 0 else "R"
        lines.append(f"{side},{left},{left_arm},{right},{right_arm}\n")
    return "".join(lines).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@contextmanager
def serving(contents: Mapping[str, bytes]) -> Iterator[str]:
    """Serve contents by path on this machine, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = contents.get(self.path.lstrip("/"))
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
