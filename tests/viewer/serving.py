"""A running server for the duration of a test."""

import contextlib
import threading

from bagwise.viewer.routes import make_app
from bagwise.viewer.server import bind_port, get_address, make_server


@contextlib.contextmanager
def served(session):
    """Serve a session on a free port and yield its address."""
    server = make_server(make_app(session))
    with bind_port(0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield get_address(listener)
        finally:
            server.should_exit = True
            thread.join()
