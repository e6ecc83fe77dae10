"""bagwise evaluate and bagwise predict: a trained model on bags."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.parameters import read_options
from bagwise.errors import InputError

DataOption = Annotated[list[str] | None, typer.Option(help="NAME=VALUE for the reader of DATA.")]
RunFolder = Annotated[Path, typer.Argument(help="A run's folder.")]


@app.command(epilog="Example: bagwise evaluate runs/first")
def evaluate(
    run: RunFolder,
    data: Annotated[str | None, typer.Argument(help="DATA with labels; the run's own test bags if not given.")] = None,
    data_option: DataOption = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a run's model on its test bags, or on other DATA with labels."""
    from bagwise.estimators import BagEstimator
    from bagwise.evaluation import evaluate as judge
    from bagwise.runs import Run, known_labels
    from bagwise.sources import open_source

    output = Output(quiet, as_json)
    trained = Run(run)
    bags = trained.test_bags() if data is None else open_source(data, **read_options(data_option or [])).judged
    judged = judge(BagEstimator.load(trained.folder / "model"), bags, known_labels(bags, data or "test"))
    output.metrics(judged.metrics)
    output.result(judged.metrics)


@app.command(epilog="Example: bagwise predict runs/first digits --out predictions.csv")
def predict(
    run: RunFolder,
    data: Annotated[str, typer.Argument(help="A data set, folder of bags, table or images; labels are not needed.")],
    out: Annotated[Path, typer.Option(help="The csv to write: a line a bag.")],
    data_option: DataOption = None,
    weights: Annotated[Path | None, typer.Option(help="Also write a csv with the weight of every instance.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every bag of DATA, and weigh its instances."""
    from bagwise.estimators import BagEstimator
    from bagwise.runs import Run, empty_rows, prediction_rows, weight_rows, write_table
    from bagwise.sources import open_source

    if weights is not None and weights.resolve() == out.resolve():
        raise InputError(f"--out and --weights are the same file, {out}; give two")
    output = Output(quiet, as_json)
    model = BagEstimator.load(Run(run).folder / "model")
    source = open_source(data, **read_options(data_option or []))
    bags = source.judged
    probabilities, shares = model.judge(bags)
    judged = prediction_rows(model.classes_, bags, probabilities, bags.labels)
    write_table(out, [*judged, *empty_rows(source.set_aside)])
    output.wrote(out, f"predictions of {len(bags)} bags")
    output.empty(source.set_aside)
    if weights is not None:
        write_table(weights, weight_rows(bags, shares))
        output.wrote(weights, f"weights of {bags.n_instances} instances")
    output.result(
        {
            "predictions": str(out),
            "weights": None if weights is None else str(weights),
            "n_bags": len(bags),
            "empty": list(source.set_aside),
        }
    )
