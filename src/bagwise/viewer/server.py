"""The web server of the viewer: it listens on this machine only, until it is interrupted."""

import contextlib
import socket
import threading
import warnings
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bagwise.errors import InputError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

HOST = "127.0.0.1"


def check_viewer_packages() -> None:
    """Check that the optional packages of the viewer are installed.

    Raises
    ------
    InputError
        If a package is missing.
    """
    if any(find_spec(package) is None for package in ("starlette", "uvicorn")):
        raise InputError("the viewer requires starlette and uvicorn; install them with: pip install 'bagwise[viewer]'")


def bind_port(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine.

    Parameters
    ----------
    port : int
        Port number; 0 chooses a free port.

    Returns
    -------
    socket.socket
        The listening socket.

    Raises
    ------
    InputError
        If the port cannot be used.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"port {port} cannot be used ({reason}); omit --port to use a free one") from None
    return listener


def get_address(listener: socket.socket) -> str:
    """Return the address to open in a browser.

    Parameters
    ----------
    listener : socket.socket
        The listening socket.

    Returns
    -------
    str
        For example "http://127.0.0.1:8000/".
    """
    return f"http://{HOST}:{listener.getsockname()[1]}/"


def run_server(app: "ASGIApp", listener: socket.socket, open_browser: bool, preload: Callable[[], None]) -> None:
    """Serve the viewer until interrupted.

    Parameters
    ----------
    app : callable
        The ASGI application.
    listener : socket.socket
        The listening socket.
    open_browser : bool
        Whether to open a browser at the address.
    preload : callable
        Called in a separate thread while the server starts, to open data before the first request.
    """
    threading.Thread(target=preload, daemon=True).start()
    if open_browser:
        threading.Thread(target=_open_browser, args=[get_address(listener)], daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to stop the server
        make_server(app).run(sockets=[listener])


def make_server(app: "ASGIApp") -> "uvicorn.Server":
    """Return a uvicorn server that logs only warnings and errors."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", http="h11", server_header=False)
    )


def _open_browser(address: str) -> None:
    if not webbrowser.open(address):
        warnings.warn(f"no browser was found; open {address} yourself, or pass --no-browser", stacklevel=1)
