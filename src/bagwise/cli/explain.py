"""``bagwise explain``: show which instances drove the prediction of a bag."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.options import DataOption, read_options
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.predict import AnyModel
from bagwise.cli.preflight import check_requirements
from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.estimators import BagEstimator
    from bagwise.explain import ExplanationSettings, ReferenceModel
    from bagwise.explain.heatmaps import MapStyle
    from bagwise.runs import ModelPredictions, Run

    Explained = Run | ModelPredictions

EXAMPLE = "Example: bagwise explain runs/first --bag bag-3 --out explanation/"


@app.command(epilog=EXAMPLE)
def explain(
    run: AnyModel,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="DATA to explain instead; labels are not needed. [default: the test bags of the run]"
        ),
    ] = None,
    data_option: DataOption = None,
    bag: Annotated[
        str | None,
        typer.Option(help="Name of a bag. [default: none; a csv file that lists all bags is written]"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write to; without --bag, csv file to write. [default: beside the run]"),
    ] = None,
    show: Annotated[
        str,
        typer.Option(help="What the map shows: weight, contribution or probability (without classes: output)."),
    ] = "weight",
    of_class: Annotated[
        str | None,
        typer.Option(
            "--class",
            help="Class (or output) of the contributions and probabilities. [default: the positive or last class]",
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(help="Run of an Instance+max model, for panel (e) of the paper's figure. [default: none]"),
    ] = None,
    seeds: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN",
            help="Run with another seed, to measure how much the weights vary; may be repeated. [default: none]",
        ),
    ] = None,
    slides: Annotated[
        Path | None, typer.Option(help="Folder of the slides or images. [default: the images of the data, if any]")
    ] = None,
    scale: Annotated[
        str, typer.Option(help="Scaling of the values before colouring: paper, raw, rank or log.")
    ] = "paper",
    colours: Annotated[
        str | None,
        typer.Option(help="Name of a matplotlib colour map. [default: depends on --show]"),
    ] = None,
    opacity: Annotated[float, typer.Option(help="Opacity of the map, from 0 to 1.")] = 0.5,
    threshold: Annotated[
        float | None, typer.Option(help="Hide values below this threshold, as scaled by --scale. [default: none]")
    ] = None,
    blur: Annotated[
        float, typer.Option(help="Standard deviation of the Gaussian blur in level-0 pixels; 0 disables it.")
    ] = 0.0,
    level: Annotated[
        int | None, typer.Option(help="Pyramid level at which the map is drawn. [default: automatic]")
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="Region to draw: x,y,width,height in level-0 pixels. [default: everything]")
    ] = None,
    top: Annotated[int, typer.Option(help="Number of tiles with the highest values to save.")] = 10,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show which instances drove the prediction of a bag.

    Writes weights, contributions, deletion curves, images and GeoJSON for QuPath. A saved or exported model has no test
    bags, so it needs DATA.
    """
    check_requirements(data)
    from bagwise.runs import ModelPredictions, Run

    output = Output(quiet, as_json)
    trained = Run(run) if data is None else ModelPredictions(run, data, **read_options(data_option or []))
    if bag is None:
        source = (
            [] if data is None else [data, *(part for pair in data_option or [] for part in ("--data-option", pair))]
        )
        _list_bags(trained, source, out, output)
        return
    from bagwise.explain.heatmaps import MapStyle

    _check_style(scale, colours, opacity)
    style = MapStyle(
        scale=scale,
        colour_map=colours,
        opacity=opacity,
        threshold=threshold,
        blur=blur,
        region=None if region is None else _parse_region(region),
    )
    settings = _make_settings(trained, show, of_class, style, top)
    settings = settings._replace(beside=_load_reference(beside), seeds=_load_models(seeds or []))
    _explain_bag(trained, bag, out, settings, slides, level, output)


def _list_bags(trained: "Explained", source: list[str], out: Path | None, output: Output) -> None:
    from bagwise.explain import make_overview_rows
    from bagwise.io import check_writable, write_csv

    path = out or _make_path_beside(trained, "-bags.csv")
    check_writable(path)
    rows = make_overview_rows(trained)
    write_csv(path, rows)
    n_warnings = sum(bool(row["warnings"]) for row in rows)
    output.print(f"{len(rows)} bags, {n_warnings} of them with a warning about their weights")
    output.print_written(path, "list of bags")
    arguments = [str(trained.folder), *source, "--bag", rows[0]["bag"]]
    output.print(f"next: {shlex.join(['bagwise', 'explain', *arguments])}")
    output.print_result({"bags": rows, "list": str(path)})


def _explain_bag(
    trained: "Explained",
    bag: str,
    out: Path | None,
    settings: "ExplanationSettings",
    slides: Path | None,
    level: int | None,
    output: Output,
) -> None:
    from bagwise.explain import BagLayers, open_bag_background, write_explanation
    from bagwise.io import check_writable, read_json
    from bagwise.runs import OpenRun

    opened = OpenRun(trained)
    number = opened.number(bag)
    folder = out or _make_path_beside(trained, f"-bag-{number}")
    check_writable(folder)
    background = open_bag_background(trained, bag, slides)
    if background is None:
        output.print(
            "no image of this bag was found, so no map and no panels are drawn; give its folder with --slides FOLDER"
        )
    if background is not None and level is not None:
        settings = settings._replace(style=settings.style._replace(downsample=background.downsample(level)))
    names = write_explanation(folder, opened, BagLayers(opened), number, background, settings)
    explanation = read_json(folder / "explanation.json")
    _print_explanation(explanation, trained.target.outputs_name, output)
    output.print_written(folder, f"explanation ({', '.join(name for name in names if '/' not in name)})")
    output.print_result({**explanation, "folder": str(folder), "files": names})


def _print_explanation(explanation: dict[str, Any], outputs_name: str, output: Output) -> None:
    outputs = ", ".join(f"{title} {text}" for title, text in explanation[outputs_name].items())
    output.print(
        f"{explanation['bag']}: label {explanation['label']}, predicted {explanation['predicted']} ({outputs})"
    )
    effective, total = explanation["effective_number"], explanation["n_instances"]
    output.print(f"effective number of instances: {effective:.1f} of {total}")
    for warning in explanation["warnings"]:
        output.print(f"note: {warning}")


def _make_settings(
    trained: "Explained", show: str, of_class: str | None, style: "MapStyle", top: int
) -> "ExplanationSettings":
    from bagwise.arguments import suggest_name
    from bagwise.explain import ExplanationSettings

    target = trained.target
    titles = [output.title for output in target.outputs]
    if show not in target.layers:
        raise InputError(f"--show '{show}' is unknown; {suggest_name(show, target.layers)}")
    if of_class is not None and of_class not in titles:
        raise InputError(f"--class '{of_class}' is unknown; {suggest_name(of_class, titles)}")
    default = target.n_outputs - 1 if target.shown_output is None else target.shown_output
    number = default if of_class is None else titles.index(of_class)
    return ExplanationSettings(layer=show, output_number=number, style=style, top=top)


def _load_reference(run: Path | None) -> "ReferenceModel | None":
    from bagwise.explain import ReferenceModel

    if run is None:
        return None
    (model,) = _load_models([run])
    return ReferenceModel(name=run.resolve().name, model=model)


def _load_models(runs: list[Path]) -> "tuple[BagEstimator, ...]":
    from bagwise.runs import load_model

    return tuple(load_model(run) for run in runs)


def _check_style(scale: str, colours: str | None, opacity: float) -> None:
    """Check the style of the map, even if there is no image to draw it on."""
    from bagwise.arguments import choose_by_name
    from bagwise.explain.heatmaps import SCALES, choose_colour_map

    choose_by_name(scale, SCALES, "--scale")
    choose_colour_map(False, colours)
    if not 0 <= opacity <= 1:
        raise InputError(f"--opacity must be from 0 (image only) to 1 (map only), got {opacity}")


def _parse_region(text: str) -> tuple[int, int, int, int]:
    try:
        x, y, width, height = (int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--region '{text}' is not x,y,width,height; write e.g. --region 0,0,2000,1000") from None
    return x, y, width, height


def _make_path_beside(trained: "Explained", ending: str) -> Path:
    """Return a path beside the run; nothing is added to a finished run, because its manifest lists all files."""
    folder = trained.folder.resolve()
    return folder.with_name(f"{folder.name}{ending}")
