"""``bagwise demo``: train on handwritten digits and write a report, in one command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.train import run_training

DATA: dict[str, Any] = {"data": "digits", "options": {}, "test": None}
PARAMETERS = {
    "pooling": "gated attention",
    "epochs": 25,
    "batch_size": 4,
    "learning_rate": 1e-3,
    "validation": 0.2,
    "random_state": 0,
}


@app.command(epilog="Example: bagwise demo")
def demo(
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Folder to write to. [default: a new folder in runs/]")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train on bags of handwritten digits and write a report.

    The report shows which digits drove the predictions of gated attention.
    """
    output = Output(quiet, as_json)
    output.print("Each bag contains about ten handwritten digits; it is positive if one of them is a nine.")
    output.print("Training uses only the labels of the bags; the model has to learn that the nines matter.\n")
    folder = run or _find_unused(Path("runs") / "demo")
    run_training(folder, {"data": DATA, "method": None, "parameters": PARAMETERS}, resume=False, output=output)


def _find_unused(folder: Path) -> Path:
    """Return the folder, or the first of demo-2, demo-3, … that does not exist."""
    number = 2
    candidate = folder
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
