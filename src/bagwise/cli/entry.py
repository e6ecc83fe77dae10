"""The entrance. A user's mistake ends with one paragraph and exit code 2; a traceback is a bug of ours."""

import errno
import io
import sys
import warnings

import typer

from bagwise.cli import (  # noqa: F401 (they register)
    bench,
    check,
    compare,
    data,
    demo,
    doctor,
    explain,
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
from bagwise.errors import InputError

MISTAKE = 2
INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without these letters gets question marks, not a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = lambda message, *_, **__: f"bagwise: {message}\n"  # no line of ours beside it
    try:
        app()
    except InputError as mistake:
        _complain(str(mistake))
    except OSError as error:
        fix = "make room and run again" if error.errno == errno.ENOSPC else "check the path and its permissions"
        _complain(f"{error.filename or 'the system'}: {error.strerror or error}; {fix}")
    except MemoryError:
        _complain("there is not enough memory; give fewer or smaller bags, or a smaller batch size")
    except KeyboardInterrupt:
        typer.echo("bagwise: interrupted", err=True)
        sys.exit(INTERRUPTED)


def _complain(message: str) -> None:
    typer.echo(f"bagwise: {message}", err=True)
    sys.exit(MISTAKE)
