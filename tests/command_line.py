"""The command line run as a user runs it: another process, its exit code, and what it says."""

import subprocess
import sys
from pathlib import Path

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
