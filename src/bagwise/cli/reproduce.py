"""bagwise reproduce: the experiments of the paper, beside its numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.workers import Backend, Scheduler, Workers, chosen_workers

if TYPE_CHECKING:
    from bagwise.working.cluster import Cluster

FIGURES = "figures"
REPEATS, REPEATS_QUICK = 5, 1
EXAMPLE = "Example: bagwise reproduce table1 --only musk1 --repeats 1 --workers 2"


@app.command(epilog=EXAMPLE)
def reproduce(
    experiment: Annotated[str, typer.Argument(help="list, or the name of an experiment.")],
    out: Annotated[Path, typer.Option(help="The folder in which results accumulate.")] = Path("reproduction"),
    repeats: Annotated[
        int | None,
        typer.Option(help="Of folds, or draws of training bags: 5, or 1 with --quick; more may be added later."),
    ] = None,
    only: Annotated[str, typer.Option(help="Settings or methods, with commas between them.")] = "",
    protocol: Annotated[str, typer.Option(help="Of the epoch: last epoch, validation, or test fold.")] = "last epoch",
    quick: Annotated[bool, typer.Option("--quick", help="A small version that takes minutes.")] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper, or what is left of it, and show our numbers beside the published ones."""
    from bagwise.paper.recipes import RECIPES

    output = Output(quiet, as_json)
    if experiment == "list":
        titles = {**{name: recipe.title for name, recipe in RECIPES.items()}, FIGURES: "Pictures of bags and heatmaps"}
        output.table("experiments", list(titles.items()))
        output.result(titles)
        return
    if experiment == FIGURES:
        _draw(out / FIGURES, quick, output)
        return
    where = chosen_workers(workers, backend, scheduler)
    if repeats is None:
        repeats = REPEATS_QUICK if quick else REPEATS
    _reproduce(experiment, out, repeats, only, protocol, quick, where, output)


def _draw(folder: Path, quick: bool, output: Output) -> None:
    from bagwise.paper.pictures import draw_pictures

    with output.progress("pictures") as progress:
        made = draw_pictures(folder, quick=quick, progress=progress)
    for path in made:
        output.wrote(path, "picture")
    output.result({"folder": str(folder), "pictures": [str(path) for path in made]})


def _reproduce(
    experiment: str,
    out: Path,
    repeats: int,
    only: str,
    protocol: str,
    quick: bool,
    workers: "int | Cluster",
    output: Output,
) -> None:
    from bagwise.paper.page import PAGE
    from bagwise.paper.recipes import RECIPES
    from bagwise.paper.reproduction import reproduce as run
    from bagwise.paper.results import result_rows
    from bagwise.paper.writing import FITS, RESULTS, TEXT, write_results

    words = [word.strip() for word in only.split(",") if word.strip()]
    with output.progress("models") as progress:
        place = run(
            out,
            experiment,
            repeats=repeats,
            quick=quick,
            only=words,
            protocol=protocol,
            workers=workers,
            progress=progress,
        )
    recipe = RECIPES[experiment]
    results = write_results(place, recipe, recipe.settings(repeats, quick))
    output.say((place / TEXT).read_text(encoding="utf-8"))
    for name, what in ((PAGE, "page"), (TEXT, "tables"), (RESULTS, "numbers"), (FITS, "every fit")):
        output.wrote(place / name, what)
    output.result({"folder": str(place), "page": str(place / PAGE), "results": result_rows(results)})
