__all__ = [
    "Session",
    "bind_port",
    "check_viewer_packages",
    "get_address",
    "make_app",
    "open_runs",
    "run_server",
]

from .routes import make_app
from .server import bind_port, check_viewer_packages, get_address, run_server
from .session import Session, open_runs
