"""bagwise compare: several methods on the same splits of DATA → one table, box plots, pairwise differences."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.method_options import read_methods
from bagwise.cli.needs import check_needs
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.parameters import read_options, with_parameters
from bagwise.cli.workers import Backend, Scheduler, Workers, chosen_workers

EXAMPLE = "Example: bagwise compare musk1 --methods attention,mi-SVM,MI-SVM,mi-Graph --folds 10 --repeats 5 --workers 2"


@app.command(epilog=EXAMPLE)
@with_parameters
def compare(
    data: Annotated[str, typer.Argument(help="A data set's name, a folder of bags, a table, or a folder of images.")],
    methods: Annotated[
        str, typer.Option(help="Names with commas between them, or all; case tells mi-SVM from MI-SVM.")
    ],
    out: Annotated[Path | None, typer.Option(help="The folder to write. [default: comparisons/DATA]")] = None,
    folds: Annotated[
        int | None, typer.Option(help="Of the cross-validation. [default: 10, or the data set's own test bags]")
    ] = None,
    repeats: Annotated[int, typer.Option(help="How often, each time with other folds.")] = 1,
    hold_out: Annotated[float | None, typer.Option(help="Judge a share of the bags instead of folds.")] = None,
    splits: Annotated[
        list[Path] | None, typer.Option(help="A file with the columns train, val, test instead of folds; repeat it.")
    ] = None,
    adjust: Annotated[str, typer.Option(help="temperature, threshold or both, learned within the training bags.")] = "",
    ensemble: Annotated[int, typer.Option(help="Copies of each method, with other seeds, that vote.")] = 1,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    ungrouped: Annotated[bool, typer.Option("--ungrouped", help="Let bags of a group stand on both sides.")] = False,
    data_option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE for the reader of DATA.")] = None,
    config: Annotated[
        Path | None, typer.Option(help='TOML: [methods."MI-SVM"] C = 10; [select."MI-SVM"] C = [1, 10].')
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Compare methods over repeated stratified folds, by group where there are groups; run again, it goes on.

    Flags of training are for the networks among the methods; --seed is for folds and methods.
    """
    check_needs(data, engine=flags.get("engine"))
    from bagwise.comparing import compare as run
    from bagwise.comparing.plan import make_plan

    seed = flags.pop("seed")
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
        adjust=[word.strip() for word in adjust.split(",") if word.strip()],
        grouped=not ungrouped,
        seed=0 if seed is None else seed,
    )
    output = Output(quiet, as_json)
    folder = out or Path("comparisons") / Path(data).stem
    with output.progress("fits") as progress:
        comparison = run(folder, plan, workers=chosen_workers(workers, backend, scheduler), progress=progress)
    _show(comparison, output)


def _show(comparison: Any, output: Output) -> None:
    """Print the table, write everything that is made from the units, and say where."""
    from bagwise.comparing.comparison import PARTS
    from bagwise.comparing.tables import difference_rows, latex_table, score_rows, shown_metrics
    from bagwise.files import atomic
    from bagwise.report.comparison_page import BOXES, write_comparison_page
    from bagwise.runs import write_table

    folder = comparison.folder
    write_table(folder / "table.csv", score_rows(comparison))
    differences = [row for metric in BOXES for row in difference_rows(comparison, metric)]
    if differences:
        write_table(folder / "differences.csv", differences)
    with atomic(folder / "table.tex") as draft:
        draft.write_text(latex_table(comparison), encoding="utf-8")
    page = write_comparison_page(comparison)
    for part, words in PARTS.items():
        if scores := comparison.part(part):
            titles = shown_metrics(part)
            rows = [(method, *(_cell(own[name].errors) for name in titles)) for method, own in scores.items()]
            output.table(f"{words}: {_error_words(scores)}", rows, ("", *titles.values()))
    for name, what in (("table.csv", "scores"), ("differences.csv", "differences"), ("table.tex", "LaTeX table")):
        if (folder / name).exists():
            output.wrote(folder / name, what)
    output.wrote(page, "page")
    output.result({"comparison": str(folder), "page": str(page), "scores": score_rows(comparison)})


def _error_words(scores: Any) -> str:
    found = {own.errors.interval_by for metrics in scores.values() for own in metrics.values()}
    if "bootstrap" in found:
        return "mean over fits, and its 95 % interval by drawing test bags again"
    return "mean ± corrected error over folds"


def _cell(errors: Any) -> str:
    if errors.mean is None:
        return "n/a"
    if errors.interval_by == "bootstrap":
        from bagwise.report.words import interval

        return f"{errors.mean:.3f} ({interval(errors.interval)})"
    return (
        f"{errors.mean:.3f}" if errors.corrected_error is None else f"{errors.mean:.3f} ± {errors.corrected_error:.3f}"
    )
