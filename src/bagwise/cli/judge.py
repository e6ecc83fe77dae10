"""bagwise evaluate and bagwise predict: a trained model on bags."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.needs import check_needs
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.parameters import read_options
from bagwise.errors import InputError
from bagwise.files import check_writable

DataOption = Annotated[list[str] | None, typer.Option(help="NAME=VALUE for the reader of DATA.")]
RunFolder = Annotated[Path, typer.Argument(help="A run's folder.")]


@app.command(epilog="Example: bagwise evaluate runs/first")
def evaluate(
    run: RunFolder,
    data: Annotated[str | None, typer.Argument(help="DATA with labels; the run's own test bags if not given.")] = None,
    data_option: DataOption = None,
    ungrouped: Annotated[
        bool, typer.Option("--ungrouped", help="DATA may hold patients of the training bags.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a run's model on its test bags, or on other DATA with labels."""
    check_needs(data)
    from bagwise.estimators import BagEstimator
    from bagwise.evaluation import evaluate as judge
    from bagwise.runs import Run, known_labels
    from bagwise.sources import open_source

    output = Output(quiet, as_json)
    trained = Run(run)
    bags = trained.test_bags() if data is None else open_source(data, **read_options(data_option or [])).judged
    if data is not None and not ungrouped:
        trained.check_unseen(bags, data)
    judged = judge(BagEstimator.load(trained.folder / "model"), bags, known_labels(bags, data or "test"))
    output.metrics(judged.metrics)
    output.result(judged.metrics)


@app.command(epilog="Example: bagwise predict runs/first digits --out predictions.csv")
def predict(
    run: Annotated[Path, typer.Argument(help="A run, an exported model, or a model's own folder.")],
    data: Annotated[str, typer.Argument(help="A data set, folder of bags, table or images; labels are not needed.")],
    out: Annotated[Path, typer.Option(help="The csv to write: a line a bag.")],
    data_option: DataOption = None,
    weights: Annotated[Path | None, typer.Option(help="Also write a csv with the weight of every instance.")] = None,
    groups: Annotated[Path | None, typer.Option(help="Also write a csv with a line a group (a patient).")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every bag of DATA, and weigh its instances."""
    check_needs(data)
    from bagwise.evaluation.grouping import by_group
    from bagwise.runs import empty_rows, group_rows, load_model, prediction_rows, weight_rows, write_table
    from bagwise.sources import open_source

    written = [path.resolve() for path in (out, weights, groups) if path is not None]
    if len(set(written)) < len(written):
        raise InputError("two of --out, --weights and --groups are the same file; give each its own")
    for path in written:
        check_writable(path)
    output = Output(quiet, as_json)
    model = load_model(run)
    source = open_source(data, **read_options(data_option or []))
    bags = source.judged
    if groups is not None and bags.groups is None:
        raise InputError(f"--groups: the bags of '{data}' have no groups; leave it out")
    probabilities, shares = model.judge(bags)
    judged = prediction_rows(model.classes_, bags, probabilities, bags.labels, model.decision_threshold)
    write_table(out, chain(judged, empty_rows(source.set_aside)))
    output.wrote(out, f"predictions of {len(bags)} bags")
    output.empty(source.set_aside)
    if groups is not None and bags.groups is not None:
        grouped = by_group(None, probabilities, bags.groups)
        write_table(groups, group_rows(model.classes_, grouped, model.decision_threshold))
        output.wrote(groups, f"predictions of {len(grouped.names)} groups")
    if weights is not None:
        write_table(weights, weight_rows(bags, shares))
        output.wrote(weights, f"weights of {bags.n_instances} instances")
    output.result(
        {
            "predictions": str(out),
            "weights": None if weights is None else str(weights),
            "groups": None if groups is None else str(groups),
            "n_bags": len(bags),
            "empty": list(source.set_aside),
        }
    )
