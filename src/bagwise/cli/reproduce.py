"""``bagwise reproduce``: run the experiments of the paper, and the one on the defaults."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.options import Backend, Scheduler, Workers, choose_workers
from bagwise.cli.output import Json, Output, Quiet

if TYPE_CHECKING:
    from bagwise.parallel import DaskCluster
FIGURES = "figures"
EXAMPLE = "Example: bagwise reproduce table1 --only musk1 --repeats 1 --workers 2"


@app.command(epilog=EXAMPLE)
def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or 'list' to print the names.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write to; results of earlier commands are kept.")] = Path(
        "reproduction"
    ),
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Number of repetitions of the cross-validation or of sampling the training bags; can be raised later. "
            "[default: 5, 1 for defaults or with --quick]"
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            help="Settings, data sets or methods to run, separated by commas. [default: all; for defaults, without the "
            "confirmation sets]"
        ),
    ] = "",
    protocol: Annotated[
        str, typer.Option(help="How the epoch is chosen: last epoch, validation or test fold.")
    ] = "last epoch",
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small version that takes minutes. [default: no]")
    ] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper, or the one on the defaults, and compare.

    Run the same command again to resume.
    """
    from bagwise.paper import RECIPES

    output = Output(quiet, as_json)
    if experiment == "list":
        titles = {
            **{name: recipe.title for name, recipe in RECIPES.items()},
            FIGURES: "Figures: bags with their weights, heatmaps",
        }
        output.print_table("experiments", list(titles.items()))
        output.print_result(titles)
        return
    if experiment == FIGURES:
        _plot(out / FIGURES, quick, output)
        return
    where = choose_workers(workers, backend, scheduler)
    _reproduce(experiment, out, repeats, only, protocol, quick, where, output)


def _plot(folder: Path, quick: bool, output: Output) -> None:
    from bagwise.paper import plot_paper_figures

    with output.show_progress("figures") as progress:
        paths = plot_paper_figures(folder, quick=quick, progress=progress)
    for path in paths:
        output.print_written(path, "figure")
    output.print_result({"folder": str(folder), "pictures": [str(path) for path in paths]})


def _reproduce(
    experiment: str,
    out: Path,
    repeats: int | None,
    only: str,
    protocol: str,
    quick: bool,
    workers: "int | DaskCluster",
    output: Output,
) -> None:
    from bagwise.paper import (
        FITS,
        FLOORS,
        PAGE,
        RECIPES,
        RESULTS,
        TEXT,
        make_result_rows,
        reproduce_experiment,
        write_results,
    )

    chosen = [name.strip() for name in only.split(",") if name.strip()]
    with output.show_progress("models") as progress:
        folder = reproduce_experiment(
            out,
            experiment,
            repeats=repeats,
            quick=quick,
            only=chosen,
            protocol=protocol,
            workers=workers,
            progress=progress,
        )
    recipe = RECIPES[experiment]
    results = write_results(folder, recipe, recipe.settings(recipe.count_repeats(repeats, quick), quick))
    output.print((folder / TEXT).read_text(encoding="utf-8"))
    floors = ((FLOORS, "floors"),) if recipe.floors else ()
    for name, content in ((PAGE, "page"), (TEXT, "tables"), (RESULTS, "numbers"), *floors, (FITS, "every fit")):
        output.print_written(folder / name, content)
    output.print_result({"folder": str(folder), "page": str(folder / PAGE), "results": make_result_rows(results)})
