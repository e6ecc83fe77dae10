"""``bagwise adopt``: convert published weights to a bagwise model."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise adopt s_0_checkpoint.pt --out clam/ --classes normal,tumour")
def adopt(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="State dictionary of CLAM (single branch) or AttentionDeepMIL.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the model to.")],
    classes: Annotated[
        str, typer.Option(help="Class labels in the order of the outputs, separated by commas. [default: 0,1,…]")
    ] = "",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Convert published weights into a model for `bagwise predict`.

    No code in the file is executed.
    """
    from bagwise.io import check_writable
    from bagwise.runs import adopt_weights

    check_writable(out)
    output = Output(quiet, as_json)
    labels = [label.strip() for label in classes.split(",") if label.strip()]
    model = adopt_weights(file, labels or None)
    model.save(out)
    shape = "×".join(map(str, model.instance_shape_))
    label_list = ", ".join(map(str, model.classes_))
    output.print_written(out, f"model ({model.pooling}, instances of shape {shape}, classes {label_list})")
    output.print_result(
        {"model": str(out), "pooling": model.pooling, "classes": [str(label) for label in model.classes_]}
    )
