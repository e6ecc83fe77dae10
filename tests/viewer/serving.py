"""A real server for as long as a test needs it."""

import contextlib
import threading

from bagwise.viewer.routes import make_app
from bagwise.viewer.server import address_of, make_server, take_port


@contextlib.contextmanager
def served(session):
    """Show a session at a free port; gives the address."""
    server = make_server(make_app(session))
    with take_port(0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()
