"""The server: on this machine alone, at a port of its own, until it is interrupted."""

import contextlib
import socket
import threading
import warnings
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from bagwise.errors import InputError

ADDRESS = "127.0.0.1"


def check_packages() -> None:
    """The packages of the viewer are optional."""
    if any(find_spec(package) is None for package in ("starlette", "uvicorn")):
        raise InputError("the viewer needs starlette and uvicorn; install them with: pip install 'bagwise[viewer]'")


def take_port(port: int) -> socket.socket:
    """A socket that listens at a port of this machine; 0 takes one that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"port {port} cannot be used ({reason}); leave --port out to take a free one") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """What to type into a browser."""
    return f"http://{ADDRESS}:{listening.getsockname()[1]}/"


def make_server(app: Callable) -> Any:
    """A server of uvicorn that says nothing but what went wrong."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", http="h11", server_header=False)
    )


def serve(app: Callable, listening: socket.socket, open_browser: bool, warm: Callable[[], None]) -> None:
    """Answer until interrupted; ``warm`` runs meanwhile, so that the first bag opens at once."""
    threading.Thread(target=warm, daemon=True).start()
    if open_browser:
        threading.Thread(target=_open_browser, args=[address_of(listening)], daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        make_server(app).run(sockets=[listening])


def _open_browser(address: str) -> None:
    if not webbrowser.open(address):
        warnings.warn(f"no browser was found; open {address} in one yourself, or pass --no-browser", stacklevel=1)
