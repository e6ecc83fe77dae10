"""``bagwise bench``: benchmarks of speed and memory, which are part of the repository and not of the package."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from bagwise.arguments import choose_by_name
from bagwise.cli.application import app
from bagwise.errors import InputError


@app.command(epilog="Example: bagwise bench small_bags")
def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a benchmark, or 'all' to run every benchmark, or 'list' to print the names."
        ),
    ] = "list",
) -> None:
    """Measure speed and memory, and compare with other tools.

    Results are written to benchmarks/results/.
    """
    folder = Path(__file__).parents[3] / "benchmarks"
    scripts = {
        path.stem: path for path in sorted(folder.glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")
    }
    if not scripts:
        raise InputError("the benchmarks are part of the repository, not of the package; run bagwise from a clone")
    if name == "list":
        for path in scripts.values():
            typer.echo(f"{path.stem:14} {path.read_text(encoding='utf-8').splitlines()[0].strip(chr(34))}")
        return
    for path in scripts.values() if name == "all" else [choose_by_name(name, scripts, "benchmark")]:
        if code := subprocess.run([sys.executable, str(path)], check=False).returncode:
            raise typer.Exit(code)
