"""bagwise demo: real handwritten digits, gated attention, scores and a report, in one command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.train import run_to_the_end

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
    run: Annotated[Path | None, typer.Argument(help="The folder to write to; a new one under runs.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train gated attention on bags of handwritten digits, and show which digits decided."""
    output = Output(quiet, as_json)
    output.say("A bag holds about ten handwritten digits; it is positive if one of them is a nine.")
    output.say("The model sees only the bags' labels, and must find out by itself that the nines decide.\n")
    folder = run or _unused(Path("runs") / "demo")
    run_to_the_end(folder, {"data": DATA, "parameters": PARAMETERS}, resume=False, output=output)


def _unused(folder: Path) -> Path:
    """The folder, or the first of demo-2, demo-3 … that does not exist."""
    number = 2
    candidate = folder
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
