"""Fixtures for tests of data sets: the real data home, an empty data home, and a small HTTP server for downloads."""

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
    """Return the path of a data home that does not exist yet."""
    monkeypatch.setenv("BAGWISE_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def serve():
    """Return a function that serves files on 127.0.0.1 until the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda files, **options: stack.enter_context(run_server(FileServer(files, **options)))


class FileServer:
    """The files of a server and a record of its requests; each connection is closed after ``cut`` bytes."""

    def __init__(self, files: dict[str, bytes], cut: int | None = None, ranges: bool = True) -> None:
        self.files = files
        self.cut = cut
        self.ranges = ranges
        self.sent = 0
        self.requests: list[tuple[str, str | None]] = []
        self.address = ""


class Handler(BaseHTTPRequestHandler):
    server_state: FileServer

    def do_GET(self) -> None:
        requested = self.headers.get("Range")
        self.server_state.requests.append((self.path, requested))
        content = self.server_state.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        start = int(re.findall(r"\d+", requested)[0]) if requested and self.server_state.ranges else 0
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
        chunk = content[start:][: self.server_state.cut]
        self.server_state.sent += len(chunk)  # before sending, because the test may read it immediately
        self.wfile.write(chunk)
        self.close_connection = True

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@contextlib.contextmanager
def run_server(state: FileServer) -> Iterator[FileServer]:
    """Serve files until the block ends."""
    handler = type("StatefulHandler", (Handler,), {"server_state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
