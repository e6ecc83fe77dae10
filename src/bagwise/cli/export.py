"""bagwise export: a run's model as a folder to hand on, with its card, and as one ONNX graph."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.judge import RunFolder
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise export runs/first --out exported/ --onnx")
def export(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    onnx: Annotated[bool, typer.Option("--onnx", help="Also write model.onnx, which runs without torch.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a run's model with a card that says what it is, how good it is, and what it is for."""
    from bagwise.export import export_run
    from bagwise.runs import Run

    output = Output(quiet, as_json)
    files = export_run(Run(run), out, onnx=onnx)
    output.wrote(out, f"model and card ({', '.join(name for name in files if '/' not in name)})")
    output.result({"folder": str(out), "files": files})
