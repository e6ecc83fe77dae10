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
from bagwise.cli.ranking_output import (
    describe_errors,
    describe_marks,
    describe_omissions,
    make_rows,
    make_train_command,
)

if TYPE_CHECKING:
    from bagwise.evaluation.comparison import Comparison, RankedMethod, Ranking

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
            help="What to learn on part of the training bags: calibration, threshold, or both separated by a comma. "
            "[default: none]"
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
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric by which the methods are sorted, such as accuracy or log-loss. [default: the first of the "
            "target, AUC for classes]"
        ),
    ] = None,
    no_baselines: Annotated[
        bool, typer.Option("--no-baselines", help="Leave out the majority, which is the reference. [default: no]")
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
    from bagwise.evaluation.comparison import compare_methods, make_plan, rank_methods

    seed, positive = flags.pop("seed"), flags.pop("positive")
    given = {name: value for name, value in flags.items() if value is not None}
    parameters, grids = read_methods(methods, given, config)
    options = read_options(data_option or [])
    plan = make_plan(
        data,
        parameters,
        options=options,
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
            folder,
            plan,
            baselines=not no_baselines,
            metric=metric,
            workers=choose_workers(workers, backend, scheduler),
            progress=progress,
        )
    _print_comparison(comparison, rank_methods(comparison, metric), output, data, options)


def _print_comparison(
    comparison: "Comparison", ranking: "Ranking", output: Output, data: str, options: dict[str, Any]
) -> None:
    """Write the tables and the HTML page of the comparison; print the ranking and the command that trains the best."""
    from bagwise.evaluation.comparison import (
        PARTS,
        choose_metrics,
        describe_ranking,
        list_worse_than_majority,
        make_score_rows,
    )

    page = _write_tables(comparison, ranking)
    for part, title in PARTS.items():
        if scores := comparison.part(part):
            titles = choose_metrics(comparison, part, ranking.metric.name)
            header, rows = make_rows(scores, titles, ranking, marked=part == "bags")
            output.print_table(f"{title}: {describe_errors(scores)}", rows, header)
            output.print_note(describe_marks(ranking) if part == "bags" else "")
    folder, sentence = comparison.folder, describe_ranking(ranking)
    command = make_train_command(data, comparison, ranking, options)
    worse = list_worse_than_majority(comparison)
    for note in [comparison.target.metrics_note, *comparison.warnings]:
        output.print_note(note)
    output.print_note(f"Probabilities are no better than the class shares: {', '.join(worse)}." if worse else "")
    for name, content in (("table.csv", "scores"), ("differences.csv", "differences"), ("table.tex", "LaTeX table")):
        if (folder / name).exists():
            output.print_written(folder / name, content)
    output.print_written(page, "page")
    output.print(sentence)
    output.print(f"next: {command}")
    output.print_note(describe_omissions(comparison.plan))
    output.print_result(
        {
            "comparison": str(folder),
            "page": str(page),
            "warnings": comparison.warnings,
            "scores": make_score_rows(comparison, ranking),
            "metric": ranking.metric.name,
            "ranking": [_ranked_to_json(ranked) for ranked in ranking.methods],
            "conclusion": sentence,
            "worse_than_majority": worse,
            "train_command": command,
        }
    )


def _write_tables(comparison: "Comparison", ranking: "Ranking") -> Path:
    """Write the csv files, the LaTeX table and the page; return the path of the page."""
    from bagwise.evaluation.comparison import make_difference_rows, make_latex_table, make_score_rows
    from bagwise.io import write_atomically, write_csv
    from bagwise.report import list_box_metrics, write_comparison_page

    folder, metrics = comparison.folder, list_box_metrics(comparison, ranking.metric.name)
    write_csv(folder / "table.csv", make_score_rows(comparison, ranking))
    differences = [row for metric in metrics for row in make_difference_rows(comparison, metric)]
    if differences:
        write_csv(folder / "differences.csv", differences)
    with write_atomically(folder / "table.tex") as temporary:
        temporary.write_text(make_latex_table(comparison), encoding="utf-8")
    return write_comparison_page(comparison, ranking)


def _ranked_to_json(ranked: "RankedMethod") -> dict[str, Any]:
    return {**ranked._asdict(), "difference": None if ranked.difference is None else ranked.difference._asdict()}
