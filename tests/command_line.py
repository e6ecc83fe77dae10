"""The command line as a user runs it: its exit code and its output.

Most tests call it in their own process: torch, which takes seconds to import, is imported once.
"""

import contextlib
import io
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from unchecked import unchecked

QUICK = ("--epochs", "2", "--batch-size", "8", "--data-option", "n_bags=30")


def bagwise(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it does not catch itself, no user may see either."""
    from bagwise.cli.entry_point import main

    typed = [*map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(cwd or Path.cwd()))
        stack.enter_context(mock.patch.object(sys, "argv", ["bagwise", *typed]))
        stack.enter_context(unchecked())
        stack.enter_context(usual_warnings())
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        ended = stack.enter_context(pytest.raises(SystemExit))
        main()
    return subprocess.CompletedProcess(typed, ended.value.code or 0, out.getvalue(), err.getvalue())


def bagwise_process(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own, where that makes a difference."""
    return subprocess.run(
        command(*arguments), cwd=cwd, capture_output=True, text=True, timeout=800, encoding="utf-8", check=False
    )


@contextlib.contextmanager
def usual_warnings() -> Iterator[None]:
    """Warnings are shown as Python shows them to a user, and are no errors."""
    hidden = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    with warnings.catch_warnings(), mock.patch.object(warnings, "formatwarning"):
        warnings.simplefilter("default")
        for category in hidden:
            warnings.simplefilter("ignore", category)
        yield


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "bagwise", *map(str, arguments)]


def read_error(result: subprocess.CompletedProcess[str]) -> str:
    """The message of a refusal: exit code 2, nothing on standard output, no traceback."""
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def run_rejected(*arguments: str | Path, cwd: Path) -> str:
    """The message of a command that is refused, and prints nothing else."""
    result = bagwise(*arguments, cwd=cwd)
    assert result.stdout == ""
    return read_error(result)


def run_quietly(*arguments: str | Path, cwd: Path) -> str:
    """What a command that must succeed printed."""
    result = bagwise(*arguments, cwd=cwd)
    assert result.returncode == 0, result
    return result.stdout
