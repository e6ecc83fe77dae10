"""The command line run as a user runs it: another process, its exit code, and what it says."""

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from unchecked import unchecked

QUICK = ("--epochs", "2", "--batch-size", "8", "--data-option", "n_bags=30")


def bagwise(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*arguments), cwd=cwd, capture_output=True, text=True, timeout=300, encoding="utf-8", check=False
    )


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "bagwise", *map(str, arguments)]


def refused(result: subprocess.CompletedProcess[str]) -> str:
    """The message of a refusal: exit code 2, nothing on standard output, no traceback."""
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def refusal(*arguments: str | Path, cwd: Path) -> str:
    """The same in this process, for many mistakes: torch, which takes seconds to import, is imported once."""
    from bagwise.cli import main

    said, out = io.StringIO(), io.StringIO()
    typed = mock.patch.object(sys, "argv", ["bagwise", *map(str, arguments)])
    redirected = contextlib.redirect_stderr(said), contextlib.redirect_stdout(out)
    with contextlib.chdir(cwd), typed, unchecked(), redirected[0], redirected[1], pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2, said.getvalue()
    assert out.getvalue() == ""
    return " ".join(said.getvalue().split())
