"""bagwise explain: why a bag was judged as it was."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.judge import RunFolder
from bagwise.cli.output import Json, Output, Quiet
from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.estimators import BagEstimator
    from bagwise.explain.heatmaps import Look
    from bagwise.runs import Run
    from bagwise.showing.explaining import Beside, Wish

EXAMPLE = "Example: bagwise explain runs/first --bag bag-3 --out why/"


@app.command(epilog=EXAMPLE)
def explain(
    run: RunFolder,
    bag: Annotated[str | None, typer.Option(help="Name of a test bag; without it all are listed.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder, or csv of the list. [default: beside the run]")] = None,
    show: Annotated[str, typer.Option(help="What the map shows: weight, contribution or probability.")] = "weight",
    of_class: Annotated[str | None, typer.Option("--class", help="Of which class. [default: the last one]")] = None,
    beside: Annotated[Path | None, typer.Option(help="A run of Instance+max, for panel (e).")] = None,
    seeds: Annotated[list[Path] | None, typer.Option(help="Runs with other seeds: how far weights differ.")] = None,
    slides: Annotated[Path | None, typer.Option(help="Folder of the slides or images.")] = None,
    scale: Annotated[str, typer.Option(help="Of the colours: paper, raw, rank or log.")] = "paper",
    colours: Annotated[str | None, typer.Option(help="A colour map of matplotlib's.")] = None,
    opacity: Annotated[float, typer.Option(help="Of the map, from 0 to 1.")] = 0.5,
    threshold: Annotated[float | None, typer.Option(help="Least scaled value that is drawn.")] = None,
    blur: Annotated[float, typer.Option(help="Standard deviation in level-0 pixels.")] = 0.0,
    level: Annotated[int | None, typer.Option(help="Of the slide, that the map is drawn at.")] = None,
    region: Annotated[str | None, typer.Option(help="x,y,width,height in level-0 pixels.")] = None,
    top: Annotated[int, typer.Option(help="How many of the greatest tiles are saved.")] = 10,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say what decided on a test bag: weights, contributions, curves, pictures, a map for QuPath."""
    from bagwise.runs import Run

    output, trained = Output(quiet, as_json), Run(run)
    if bag is None:
        _list(trained, out, output)
        return
    from bagwise.explain.heatmaps import Look

    _check_look(scale, colours, opacity)
    look = Look(scale, colours, opacity, threshold, blur, None, None if region is None else _region(region))
    wish = _wish(trained, show, of_class, look, top)._replace(beside=_beside(beside), seeds=_models(seeds or []))
    _explain(trained, bag, out, wish, slides, level, output)


def _list(trained: "Run", out: Path | None, output: Output) -> None:
    from bagwise.files import check_writable
    from bagwise.runs import write_table
    from bagwise.showing.overview import overview_rows

    path = out or _next_to(trained, "-bags.csv")
    check_writable(path)
    rows = overview_rows(trained)
    write_table(path, rows)
    warned = [row for row in rows if row["warnings"]]
    output.say(f"{len(rows)} test bags, {len(warned)} of them with a warning about their weights")
    output.wrote(path, "list of bags")
    output.say(f"next: {shlex.join(['bagwise', 'explain', str(trained.folder), '--bag', rows[0]['bag']])}")
    output.result({"bags": rows, "list": str(path)})


def _explain(
    trained: "Run", bag: str, out: Path | None, wish: "Wish", slides: Path | None, level: int | None, output: Output
) -> None:
    from bagwise.files import check_writable, read_json
    from bagwise.showing.explaining import write_explanation
    from bagwise.showing.layers import Layers
    from bagwise.showing.locating import open_picture
    from bagwise.showing.shown_run import ShownRun

    shown = ShownRun(trained)
    number = shown.number(bag)
    folder = out or _next_to(trained, f"-bag-{number}")
    check_writable(folder)
    ground = open_picture(trained, bag, slides)
    if ground is None:
        output.say("there is no picture of this bag, so there are no map and no panels; --slides FOLDER names one")
    if ground is not None and level is not None:
        wish = wish._replace(look=wish.look._replace(downsample=ground.downsample(level)))
    names = write_explanation(folder, shown, Layers(shown), number, ground, wish)
    facts = read_json(folder / "explanation.json")
    _say(facts, output)
    output.wrote(folder, f"explanation ({', '.join(name for name in names if '/' not in name)})")
    output.result({**facts, "folder": str(folder), "files": names})


def _say(facts: dict[str, Any], output: Output) -> None:
    chances = ", ".join(f"{label} {text}" for label, text in facts["probabilities"].items())
    output.say(f"{facts['bag']}: label {facts['label']}, predicted {facts['predicted']} ({chances})")
    output.say(f"as many as {facts['effective_number']:.1f} of {facts['n_instances']} instances count")
    for warning in facts["warnings"]:
        output.say(f"note: {warning}")


def _wish(trained: "Run", show: str, of_class: str | None, look: "Look", top: int) -> "Wish":
    from bagwise.names import nearest
    from bagwise.showing.explaining import Wish
    from bagwise.showing.layers import LAYERS

    if show not in LAYERS:
        raise InputError(f"--show: '{show}' is unknown; {nearest(show, LAYERS)}")
    if of_class is not None and of_class not in trained.classes:
        raise InputError(f"--class: '{of_class}' is unknown; {nearest(of_class, trained.classes)}")
    number = len(trained.classes) - 1 if of_class is None else trained.classes.index(of_class)
    return Wish(show, number, look, top)


def _beside(run: Path | None) -> "Beside | None":
    from bagwise.showing.explaining import Beside

    return None if run is None else Beside(run.resolve().name, *_models([run]))


def _models(runs: list[Path]) -> "tuple[BagEstimator, ...]":
    from bagwise.estimators import BagEstimator
    from bagwise.runs import Run

    return tuple(BagEstimator.load(Run(run).folder / "model") for run in runs)


def _check_look(scale: str, colours: str | None, opacity: float) -> None:
    """Refuse what could not be drawn, also where nothing is to be drawn."""
    from bagwise.explain.heatmaps import SCALES
    from bagwise.explain.heatmaps.colours import colouring
    from bagwise.names import choose

    choose(scale, SCALES, "--scale")
    colouring(False, colours)
    if not 0 <= opacity <= 1:
        raise InputError(f"--opacity is {opacity}; give a number from 0, the picture alone, to 1, the map alone")


def _region(text: str) -> tuple[int, int, int, int]:
    try:
        x, y, width, height = (int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--region: '{text}' is not a region; give x,y,width,height, e.g. 0,0,2000,1000") from None
    return x, y, width, height


def _next_to(trained: "Run", ending: str) -> Path:
    """A sealed run takes no more files: what is made of it lies beside it."""
    folder = trained.folder.resolve()
    return folder.with_name(f"{folder.name}{ending}")
