"""The entry point of the command line.

Invalid input ends the command with a short message and exit code 2, and so do errors of the operating system and a lack
of memory. Any other exception is a bug in bagwise and keeps its traceback.
"""

import io
import sys
import warnings
from typing import Any

import typer

from bagwise.cli import (  # noqa: F401 (importing a command registers it)
    adopt,
    bench,
    check,
    compare,
    data,
    demo,
    doctor,
    explain,
    export,
    extract,
    import_features,
    predict,
    report,
    reproduce,
    tile,
    train,
    view,
)
from bagwise.cli.application import app
from bagwise.cli.interruption import Interruption, end_on_signal, print_resume_hint
from bagwise.errors import InputError
from bagwise.io import DISK_FULL

USER_ERROR = 2


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # replace characters that the terminal cannot encode
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    shown: set[str] = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        """Print each message once, because a command checks and fits several times, without the line of source code."""
        if str(message) not in shown:
            shown.add(str(message))
            typer.echo(f"bagwise: {message}", err=True)

    warnings.showwarning = show_warning
    try:
        with end_on_signal() as interruption:
            _run(interruption)
    except InputError as error:
        _exit_with_message(str(error))
    except OSError as error:
        fix = (
            "free some disk space and run the command again"
            if error.errno in DISK_FULL
            else "check the path and its permissions"
        )
        _exit_with_message(f"{error.filename or 'the system'}: {error.strerror or error}; {fix}")
    except MemoryError:
        _exit_with_message("not enough memory; use fewer or smaller bags, or a smaller --batch-size")


def _run(interruption: Interruption) -> None:
    try:
        app()
    except (KeyboardInterrupt, SystemExit) as exit_request:  # typer turns an interruption into its own exit code
        if not interruption.requested() or (isinstance(exit_request, SystemExit) and not exit_request.code):
            raise
        print_resume_hint()
        sys.exit(interruption.exit_code)


def _exit_with_message(message: str) -> None:
    typer.echo(f"bagwise: {message}", err=True)
    sys.exit(USER_ERROR)
