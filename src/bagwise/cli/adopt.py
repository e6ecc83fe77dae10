"""bagwise adopt: weights that others have published → a model of this library."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise adopt s_0_checkpoint.pt --out clam/ --classes normal,tumour")
def adopt(
    file: Annotated[Path, typer.Argument(help="A state dictionary of CLAM (single branch) or AttentionDeepMIL.")],
    out: Annotated[Path, typer.Option(help="The folder to write the model to.")],
    classes: Annotated[str, typer.Option(help="Labels in the order of the outputs, by commas. [default: 0,1,…]")] = "",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Read published weights, without running anything in the file, as a model that `bagwise predict` takes."""
    from bagwise.files import check_writable
    from bagwise.published import adopt as adopted

    check_writable(out)
    output = Output(quiet, as_json)
    labels = [label.strip() for label in classes.split(",") if label.strip()]
    model = adopted(file, labels or None)
    model.save(out)
    shape = "×".join(map(str, model.instance_shape_))
    output.wrote(out, f"{model.pooling}, instances of {shape}, classes {', '.join(map(str, model.classes_))}")
    output.result({"model": str(out), "pooling": model.pooling, "classes": [str(label) for label in model.classes_]})
