"""``bagwise export``: write the model of a run with a model card and, optionally, an ONNX graph."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.predict import RunFolder


@app.command(epilog="Example: bagwise export runs/first --out exported/ --onnx")
def export(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Also write model.onnx, which runs without torch. [default: no]")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the model of a run with a model card.

    The card describes the data, the performance and the intended use of the model.
    """
    from bagwise.report import export_run
    from bagwise.runs import Run

    output = Output(quiet, as_json)
    files = export_run(Run(run), out, onnx=onnx)
    output.print_written(out, f"model and model card ({', '.join(name for name in files if '/' not in name)})")
    output.print_result({"folder": str(out), "files": files})
