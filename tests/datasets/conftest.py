"""Tests of data sets read the real data, or an empty home of their own; and a small HTTP server for downloads."""

import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from real_data import HOME


@pytest.fixture(autouse=True)
def _real_home(monkeypatch):
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))


@pytest.fixture
def empty_home(monkeypatch, tmp_path):
    monkeypatch.setenv("BAGWISE_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def serve():
    """Start a server of these files on 127.0.0.1; it ends with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda files, **manners: stack.enter_context(serving(Served(files, **manners)))


class Served:
    """What the server holds and what it did: ``cut`` is after how many bytes it drops each connection."""

    def __init__(self, files: dict[str, bytes], cut: int | None = None, ranges: bool = True) -> None:
        self.files = files
        self.cut = cut
        self.ranges = ranges
        self.sent = 0
        self.requests: list[tuple[str, str | None]] = []
        self.address = ""


class Handler(BaseHTTPRequestHandler):
    served: Served

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.served.requests.append((self.path, wanted))
        content = self.served.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        start = int(re.findall(r"\d+", wanted)[0]) if wanted and self.served.ranges else 0
        if start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        piece = content[start:][: self.served.cut]
        self.served.sent += len(piece)  # before it goes: the test may read it at once
        self.wfile.write(piece)
        self.close_connection = True

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serving(served: Served) -> Iterator[Served]:
    """Serve until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"served": served}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
