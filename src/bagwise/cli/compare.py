"""``bagwise compare``: evaluate several methods on the same splits of DATA."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.options import (
    Backend,
    DataArgument,
    DataOption,
    Scheduler,
    Workers,
    add_parameters,
    choose_workers,
    read_methods,
    read_options,
)
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.preflight import check_requirements

if TYPE_CHECKING:
    from bagwise.evaluation.comparison import Comparison

EXAMPLE = "Example: bagwise compare musk1 --methods attention,mi-SVM,MI-SVM,mi-Graph --folds 10 --repeats 5 --workers 2"


@app.command(epilog=EXAMPLE)
@add_parameters
def compare(
    data: DataArgument,
    methods: Annotated[
        str,
        typer.Option(
            help="Method names separated by commas, or 'all'. Case-sensitive: mi-SVM and MI-SVM are different methods."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder to write to. [default: comparisons/DATA]")] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Number of cross-validation folds. [default: the data set's own test bags, else 10]"),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Number of repetitions of the cross-validation, each with different folds.")
    ] = 1,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of the bags to hold out for testing, instead of cross-validation. [default: none]"),
    ] = None,
    splits: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="csv file with the columns train, val and test, instead of folds; may be repeated. [default: none]",
        ),
    ] = None,
    adjust: Annotated[
        str,
        typer.Option(
            help="Calibration learned on part of the training bags: temperature, threshold, or both separated by a "
            "comma. [default: none]"
        ),
    ] = "",
    ensemble: Annotated[
        int, typer.Option(help="Number of copies of each method with different seeds, whose predictions are averaged.")
    ] = 1,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    ungrouped: Annotated[
        bool,
        typer.Option("--ungrouped", help="Allow bags of one group (patient) in both training and test. [default: no]"),
    ] = False,
    data_option: DataOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help='TOML file: [methods."MI-SVM"] C = 10 sets a parameter, [select."MI-SVM"] C = [1, 10] selects it '
            "within the training bags. [default: none]"
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Compare methods on the same splits of DATA.

    The default is cross-validation with stratified folds, which never separate bags of one group (patient). Run the
    same command again to resume.

    Training flags apply to the networks among the methods. --seed sets the seed of the folds and of all methods.
    """
    check_requirements(data, engine=flags.get("engine"))
    from bagwise.evaluation.comparison import compare_methods, make_plan

    seed, positive = flags.pop("seed"), flags.pop("positive")
    given = {name: value for name, value in flags.items() if value is not None}
    parameters, grids = read_methods(methods, given, config)
    plan = make_plan(
        data,
        parameters,
        options=read_options(data_option or []),
        selection=grids,
        folds=folds,
        repeats=repeats,
        hold_out=hold_out,
        splits=[str(path) for path in splits or []],
        ensemble=ensemble,
        adjust=[name.strip() for name in adjust.split(",") if name.strip()],
        grouped=not ungrouped,
        seed=0 if seed is None else seed,
        positive=positive,
    )
    output = Output(quiet, as_json)
    folder = out or Path("comparisons") / Path(data).stem
    with output.show_progress("fits") as progress:
        comparison = compare_methods(
            folder, plan, workers=choose_workers(workers, backend, scheduler), progress=progress
        )
    _print_comparison(comparison, output)


def _print_comparison(comparison: "Comparison", output: Output) -> None:
    """Write the tables and the HTML page of the comparison, and print the metrics."""
    from bagwise.evaluation.comparison import (
        PARTS,
        choose_metrics,
        make_difference_rows,
        make_latex_table,
        make_score_rows,
    )
    from bagwise.io import write_atomically, write_csv
    from bagwise.report import list_box_metrics, write_comparison_page

    folder = comparison.folder
    write_csv(folder / "table.csv", make_score_rows(comparison))
    differences = [row for metric in list_box_metrics(comparison) for row in make_difference_rows(comparison, metric)]
    if differences:
        write_csv(folder / "differences.csv", differences)
    with write_atomically(folder / "table.tex") as temporary:
        temporary.write_text(make_latex_table(comparison), encoding="utf-8")
    page = write_comparison_page(comparison)
    for part, title in PARTS.items():
        if scores := comparison.part(part):
            metrics = choose_metrics(comparison, part)
            rows = [(method, *(_format_score(own[name].errors) for name in metrics)) for method, own in scores.items()]
            output.print_table(f"{title}: {_describe_errors(scores)}", rows, ("", *metrics.values()))
    for note in [comparison.target.metrics_note, *comparison.warnings]:
        output.print_note(note)
    for name, content in (("table.csv", "scores"), ("differences.csv", "differences"), ("table.tex", "LaTeX table")):
        if (folder / name).exists():
            output.print_written(folder / name, content)
    output.print_written(page, "page")
    output.print_result(
        {
            "comparison": str(folder),
            "page": str(page),
            "warnings": comparison.warnings,
            "scores": make_score_rows(comparison),
        }
    )


def _describe_errors(scores: Any) -> str:
    kinds = {own.errors.interval_by for metrics in scores.values() for own in metrics.values()}
    if "bootstrap" in kinds:
        return "mean over fits, with a 95 % bootstrap interval over test bags"
    return "mean ± corrected standard error over folds"


def _format_score(errors: Any) -> str:
    if errors.mean is None:
        return "n/a"
    if errors.interval_by == "bootstrap":
        from bagwise.report import format_interval

        return f"{errors.mean:.3f} ({format_interval(errors.interval)})"
    if errors.corrected_error is None:
        return f"{errors.mean:.3f}"
    return f"{errors.mean:.3f} ± {errors.corrected_error:.3f}"
