"""``bagwise evaluate`` and ``bagwise predict``: apply a trained model to bags."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.options import DataOption, read_options
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.preflight import check_requirements
from bagwise.errors import InputError
from bagwise.io import check_writable

AnyModel = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, of an exported model, or of a saved model.")
]
FAILED = 1  # exit code if a bag has no prediction
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]


@app.command(epilog="Example: bagwise evaluate runs/first")
def evaluate(
    run: AnyModel,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="Labelled DATA to evaluate on. [default: the test bags of the run]"),
    ] = None,
    data_option: DataOption = None,
    ungrouped: Annotated[
        bool,
        typer.Option("--ungrouped", help="Allow DATA to contain groups (patients) of the training bags. [default: no]"),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Evaluate the model of a run on its test bags or other DATA.

    A saved or exported model has no test bags, so it needs DATA.
    """
    check_requirements(data)
    from bagwise.data import get_labels, open_source
    from bagwise.evaluation import evaluate as evaluate_model
    from bagwise.runs import Run, is_model_folder, load_model

    output = Output(quiet, as_json)
    if data is None:
        bags = Run(run).test_bags()
    else:
        bags = open_source(data, **read_options(data_option or [])).prediction_bags
        if not ungrouped and not is_model_folder(run):
            Run(run).check_unseen(bags, data)
    model = load_model(run)
    evaluation = evaluate_model(model, bags, get_labels(bags, data or "test"))
    output.print_metrics(evaluation.metrics, model.target_)
    output.print_result(evaluation.metrics)


@app.command(epilog="Example: bagwise predict runs/first digits --out predictions.csv")
def predict(
    run: AnyModel,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Data set, folder of bags, table or folder of images; labels are not needed."
        ),
    ],
    out: Annotated[Path, typer.Option(help="csv file to write, one row per bag.")],
    data_option: DataOption = None,
    weights: Annotated[
        Path | None, typer.Option(help="Also write this csv file with the weight of every instance. [default: none]")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Also write this csv file with one row per group (patient). [default: none]")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the label of every bag of DATA.

    The weights of the instances are computed as well. The exit code is 1 if a prediction is not a finite number.
    """
    check_requirements(data)
    from bagwise.data import open_source
    from bagwise.evaluation import group_predictions
    from bagwise.io import write_csv
    from bagwise.runs import load_model, make_empty_rows, make_group_rows, make_prediction_rows, make_weight_rows
    from bagwise.targets import find_failures

    paths = [path.resolve() for path in (out, weights, groups) if path is not None]
    if len(set(paths)) < len(paths):
        raise InputError("two of --out, --weights and --groups name the same file; give each its own")
    for path in paths:
        check_writable(path)
    output = Output(quiet, as_json)
    model = load_model(run)
    source = open_source(data, **read_options(data_option or []))
    bags = source.prediction_bags
    if groups is not None and bags.groups is None:
        raise InputError(f"--groups: the bags of '{data}' have no groups; leave --groups out")
    outputs, instance_weights = model.predict_with_weights(bags)
    rows = make_prediction_rows(model.target_, bags, outputs, bags.labels, model.decision_threshold)
    write_csv(out, chain(rows, make_empty_rows(source.set_aside)))
    failures = find_failures(model.target_.outputs, outputs)
    output.print_written(out, f"predictions for {len(bags) - len(failures)} bags")
    output.print_empty_bags(source.set_aside)
    if groups is not None and bags.groups is not None:
        grouped = group_predictions(None, outputs, bags.groups)
        write_csv(groups, make_group_rows(model.target_, grouped, model.decision_threshold, bags.label_names))
        output.print_written(groups, f"predictions for {len(grouped.names)} groups")
    if weights is not None:
        write_csv(weights, make_weight_rows(bags, instance_weights))
        output.print_written(weights, f"weights of {bags.n_instances} instances")
    output.print_result(
        {
            "predictions": str(out),
            "weights": None if weights is None else str(weights),
            "groups": None if groups is None else str(groups),
            "n_bags": len(bags),
            "empty": list(source.set_aside),
            "failed": [bags.name(bag) for bag in failures],
        }
    )
    if failures:
        bag, reason = next(iter(failures.items()))
        message = (
            f"bagwise: {len(failures)} of {len(bags)} bags have no finite prediction, such as {bags.name(bag)} "
            f"({reason}); their status in {out} is failed. Look for extreme values in their instances"
        )
        typer.echo(message, err=True)
        raise typer.Exit(FAILED)
