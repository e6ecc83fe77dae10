"""The entrance. A user's mistake ends with one paragraph and exit code 2; a traceback is a bug of ours."""

import io
import sys
import warnings

import typer

from bagwise.cli import (  # noqa: F401 (they register)
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
    imports,
    judge,
    report,
    reproduce,
    tile,
    train,
    view,
)
from bagwise.cli.app import app
from bagwise.cli.interruption import Interruption, ending, tell_the_way_on
from bagwise.errors import InputError
from bagwise.files import NO_ROOM

MISTAKE = 2


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without these letters gets question marks, not a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = lambda message, *_, **__: f"bagwise: {message}\n"  # no line of ours beside it
    try:
        with ending() as interruption:
            _run(interruption)
    except InputError as mistake:
        _complain(str(mistake))
    except OSError as error:
        fix = "make room and run again" if error.errno in NO_ROOM else "check the path and its permissions"
        _complain(f"{error.filename or 'the system'}: {error.strerror or error}; {fix}")
    except MemoryError:
        _complain("there is not enough memory; give fewer or smaller bags, or a smaller batch size")


def _run(interruption: Interruption) -> None:
    try:
        app()
    except (KeyboardInterrupt, SystemExit) as ended:  # typer makes an exit code of its own of an interruption
        if not interruption.requested() or (isinstance(ended, SystemExit) and not ended.code):
            raise
        tell_the_way_on()
        sys.exit(interruption.exit_code)


def _complain(message: str) -> None:
    typer.echo(f"bagwise: {message}", err=True)
    sys.exit(MISTAKE)
