"""bagwise bench: the measurements of speed and memory, which live in the repository and not in the package."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

import bagwise
from bagwise.cli.app import app
from bagwise.errors import InputError
from bagwise.names import choose


@app.command(epilog="Example: bagwise bench small_bags")
def bench(
    name: Annotated[str, typer.Argument(help="A script of benchmarks/, all, or list.")] = "list",
) -> None:
    """Measure speed and memory against peers on this machine; results are written to benchmarks/results/."""
    folder = Path(bagwise.__file__).parents[2] / "benchmarks"
    scripts = {
        path.stem: path for path in sorted(folder.glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")
    }
    if not scripts:
        raise InputError(
            "the benchmarks are part of the repository, not of the package; run bagwise from a clone of it"
        )
    if name == "list":
        for path in scripts.values():
            typer.echo(f"{path.stem:14} {path.read_text(encoding='utf-8').splitlines()[0].strip(chr(34))}")
        return
    for path in scripts.values() if name == "all" else [choose(name, scripts, "benchmark")]:
        if code := subprocess.run([sys.executable, str(path)], check=False).returncode:
            raise typer.Exit(code)
