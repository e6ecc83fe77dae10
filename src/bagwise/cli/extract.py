"""bagwise extract: tiles of whole slides → features → bags."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.interruption import interruptible, tell_the_way_on
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.workers import Backend, Scheduler, Workers, chosen_workers, tell_elsewhere

SLIDE, LABEL, CASE = "slide_id", "label", "case_id"


@app.command(epilog="Example: bagwise extract tiles/ --out bags/ --encoder efficientnet-lite0 --labels labels.csv")
def extract(
    tiles: Annotated[Path, typer.Argument(help="A folder that bagwise tile wrote.")],
    out: Annotated[Path, typer.Option(help="The folder of bags to write.")],
    encoder: Annotated[str, typer.Option(help="pixels, efficientnet-lite0, or a model of timm.")] = "pixels",
    labels: Annotated[Path | None, typer.Option(help="A csv: slide_id, label, and case_id if there is one.")] = None,
    regions: Annotated[int | None, typer.Option(help="Bags are squares of so many level-0 pixels, not slides.")] = None,
    slides: Annotated[Path | None, typer.Option(help="Where the slides lie, if they were moved.")] = None,
    batch_size: Annotated[int, typer.Option(help="Tiles at once.")] = 64,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    download: Annotated[bool, typer.Option("--download", help="Let timm fetch weights over the network.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out slides that are bad or unlabelled.")] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Turn the tiles of each slide into features and pack them into bags; run again, it goes on where it stopped.

    Several commands may work on one folder, each with workers of its own: a slide is done by one of them, and the last
    command packs the bags. Workers of a Dask cluster must see TILES and the slides under the same paths. With
    --regions a bag is called SLIDE@X-Y; without --labels, bags.csv lists the names to label.
    """
    from bagwise.files import check_writable
    from bagwise.slides.packages import check_encoder, check_openslide
    from bagwise.slides.regions import regions as divided
    from bagwise.slides.tile_files import check_target, list_tiles

    output = Output(quiet, as_json)
    where = chosen_workers(workers, backend, scheduler)
    check_openslide()
    check_encoder(encoder)
    names = [bag.name for entry in list_tiles(tiles) for bag in divided(entry, regions)]
    check_target(out)  # mistakes are told before torch is imported
    check_writable(out)
    known = None if labels is None else _labels(labels, names, skip_bad, output)
    extractor = _promised(encoder, device, download)
    found = _extract(tiles, extractor, where, output, slides=slides, batch_size=batch_size, skip_bad=skip_bad)
    packed = None
    if not found.elsewhere:
        packed = _pack(tiles, out, extractor, known, found, regions, output)
    output.result({"folder": str(out), "extractor": encoder, "packed": packed, **found._asdict()})
    _tell(found, tiles, out, packed, labels is not None, output)


def _labels(path: Path, names: list[str], skip_bad: bool, output: Output) -> Any:
    """The labels by the slides' names; slides without a label, and labels without a slide, are never passed over."""
    from bagwise.errors import InputError
    from bagwise.slides.labels import read_labels, unmatched
    from bagwise.slides.slide import slide_name

    rows = read_labels(path, SLIDE, LABEL, CASE)
    labels = {slide_name(name): entry for name, entry in rows.items()}
    if len(labels) < len(rows):
        raise InputError(f"{path}: two rows speak of one slide, with and without its suffix; keep one row a slide")
    lonely = unmatched(labels, names)
    if lonely and not skip_bad:
        raise InputError(f"{path}: {'; '.join(lonely)}; mend the {SLIDE} column, or pass --skip-bad to leave them out")
    for sentence in lonely:
        output.say(f"left out: {sentence}")
    return labels


def _promised(encoder: str, device: str, download: bool) -> Any:
    from bagwise.slides.promised import Promised, extractor_name

    name = extractor_name(encoder)
    return None if name is None else Promised(name, _build, (encoder, device, download))


def _build(encoder: str, device: str, download: bool) -> Any:
    """The extractor itself; any process that extracts calls this once, and it alone imports torch."""
    from bagwise.slides.extractors import named_extractor
    from bagwise.training.devices import resolve

    extractor = named_extractor(encoder, download)
    return extractor if extractor is None else extractor.to(resolve(device))


def _extract(tiles: Path, extractor: Any, where: Any, output: Output, **settings: Any) -> Any:
    """With one process a bar for each slide, with several one for all of them."""
    from bagwise.slides.extraction import extract

    if where == 1:
        with _watching(output) as watch:
            return extract(tiles, extractor, watch=watch, **settings)
    with output.progress("slides") as progress:  # a signal ends the workers at once: they hear of no request
        return extract(tiles, extractor, workers=where, progress=progress, **settings)


@contextlib.contextmanager
def _watching(output: Output) -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with interruptible() as interruption, Progress(console=Console(stderr=True), disable=not output.talks) as bar:
        tasks: dict[str, Any] = {}

        def watch(name: str, done: int, total: int) -> None:
            if interruption.requested():  # the slide is given up and its claim with it, so that others may take it
                bar.stop()
                tell_the_way_on()
                raise typer.Exit(interruption.exit_code)
            if name not in tasks:
                tasks[name] = bar.add_task(name.replace("[", "\\["), total=total)
            bar.update(tasks[name], completed=done)

        yield watch


def _pack(
    tiles: Path, out: Path, extractor: Any, labels: Any, found: Any, side: int | None, output: Output
) -> int | None:
    from bagwise.claims import claimed
    from bagwise.slides.packing import pack

    with claimed(out.parent / f".{out.name}.claim") as mine:
        if not mine:
            output.say(f"another process packs {out}")
            return None
        return pack(tiles, out, extractor, labels, tuple(found.bad), side)


def _tell(found: Any, tiles: Path, out: Path, packed: int | None, labelled: bool, output: Output) -> None:
    for name, reason in found.bad.items():
        output.say(f"left out {name}: {reason}")
    for name in found.empty:
        output.say(f"set aside {name}: it has no tiles")
    output.say(f"{len(found.done)} slide{'s' * (len(found.done) != 1)} extracted, {len(found.skipped)} done before")
    if found.elsewhere:
        tell_elsewhere(found.elsewhere, tiles, output)
    elif packed is not None:
        output.wrote(out, f"{packed} bag{'s' * (packed != 1)}")
        again = f"list labels for the names in {out / 'bags.csv'} (slide_id, label) and run it again with --labels"
        output.say(f"next: {f'bagwise train {out} runs/first' if labelled else again}")
