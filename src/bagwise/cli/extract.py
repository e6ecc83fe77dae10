"""``bagwise extract``: compute the features of tiles and pack them into bags."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.interruption import handle_interruption, print_resume_hint
from bagwise.cli.options import Backend, Scheduler, Workers, choose_workers
from bagwise.cli.output import Json, Output, Quiet

SLIDE, LABEL, CASE = "slide_id", "label", "case_id"


@app.command(epilog="Example: bagwise extract tiles/ --out bags/ --encoder efficientnet-lite0 --labels labels.csv")
def extract(
    tiles: Annotated[Path, typer.Argument(metavar="TILES", help="Folder written by bagwise tile.")],
    out: Annotated[Path, typer.Option(help="Folder of bags to write.")],
    encoder: Annotated[
        str, typer.Option(help="Encoder: pixels, efficientnet-lite0, or the name of a timm model.")
    ] = "pixels",
    labels: Annotated[
        Path | None,
        typer.Option(help="csv file with the columns slide_id, label and, optionally, case_id. [default: no labels]"),
    ] = None,
    regions: Annotated[
        int | None,
        typer.Option(
            help="Side of a square region in level-0 pixels; each region is a bag. [default: one bag per slide]"
        ),
    ] = None,
    slides: Annotated[
        Path | None, typer.Option(help="Folder of the slides, if they were moved. [default: where they were tiled]")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Number of tiles per batch.")] = 64,
    device: Annotated[str, typer.Option(help="Device: auto, cpu, cuda or mps.")] = "auto",
    download: Annotated[bool, typer.Option("--download", help="Allow timm to download weights. [default: no]")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out slides that cannot be read or have no label. [default: no]")
    ] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compute the features of tiles and pack them into bags.

    Run the same command again to resume. Several commands may share one folder, each with its own workers: every slide
    is processed by one of them, and the last command packs the bags. Workers of a Dask cluster must have access
    to TILES and the slides under the same paths. With --regions a bag is named SLIDE@X-Y; without --labels, bags.csv
    lists the names to label.
    """
    from bagwise.data.slides import check_bags_folder, list_tiles, split_into_regions
    from bagwise.io import check_encoder_packages, check_openslide, check_writable

    output = Output(quiet, as_json)
    where = choose_workers(workers, backend, scheduler)
    check_openslide()
    check_encoder_packages(encoder)
    names = [bag.name for entry in list_tiles(tiles) for bag in split_into_regions(entry, regions)]
    check_bags_folder(out)  # errors are reported before torch is imported
    check_writable(out)
    known = None if labels is None else _read_labels(labels, names, skip_bad, output)
    extractor = _defer_extractor(encoder, device, download)
    found = _extract(tiles, extractor, where, output, slides=slides, batch_size=batch_size, skip_bad=skip_bad)
    packed = None
    if not found.elsewhere:
        packed = _pack(tiles, out, extractor, known, found, regions, output)
    output.print_result({"folder": str(out), "extractor": encoder, "packed": packed, **found._asdict()})
    _print_summary(found, tiles, out, packed, labels is not None, output)


def _read_labels(path: Path, names: list[str], skip_bad: bool, output: Output) -> Any:
    """Read the labels by slide name; slides without a label and labels without a slide are errors."""
    from bagwise.data.slides import find_unmatched, get_slide_name, read_bag_labels
    from bagwise.errors import InputError

    rows = read_bag_labels(path, SLIDE, LABEL, CASE)
    labels = {get_slide_name(name): entry for name, entry in rows.items()}
    if len(labels) < len(rows):
        raise InputError(f"{path}: a slide is listed twice, with and without its suffix; keep one row per slide")
    unmatched = find_unmatched(labels, names)
    if unmatched and not skip_bad:
        raise InputError(
            f"{path}: {'; '.join(unmatched)}; correct the column {SLIDE}, or add --skip-bad to leave them out"
        )
    for sentence in unmatched:
        output.print(f"left out: {sentence}")
    return labels


def _defer_extractor(encoder: str, device: str, download: bool) -> Any:
    from bagwise.data.slides import DeferredExtractor, get_extractor_name

    name = get_extractor_name(encoder)
    return None if name is None else DeferredExtractor(name, _build, (encoder, device, download))


def _build(encoder: str, device: str, download: bool) -> Any:
    """Build the extractor; each worker process calls this once, and only this imports torch."""
    from bagwise.data.slides import build_extractor
    from bagwise.training import resolve_device

    extractor = build_extractor(encoder, download)
    return extractor if extractor is None else extractor.to(resolve_device(device))


def _extract(tiles: Path, extractor: Any, where: Any, output: Output, **settings: Any) -> Any:
    """Extract features; show one progress bar per slide, or with several processes one bar for all slides."""
    from bagwise.data.slides import extract_features

    if where == 1:
        with _show_slide_progress(output) as watch:
            return extract_features(tiles, extractor, watch=watch, **settings)
    with output.show_progress("slides") as progress:  # a signal ends the workers at once
        return extract_features(tiles, extractor, workers=where, progress=progress, **settings)


@contextlib.contextmanager
def _show_slide_progress(output: Output) -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with (
        handle_interruption() as interruption,
        Progress(console=Console(stderr=True), disable=not output.is_verbose) as bar,
    ):
        tasks: dict[str, Any] = {}

        def watch(name: str, done: int, total: int) -> None:
            if interruption.requested():  # the exception releases the lock of the slide for other commands
                bar.stop()
                print_resume_hint()
                raise typer.Exit(interruption.exit_code)
            if name not in tasks:
                tasks[name] = bar.add_task(name.replace("[", "\\["), total=total)
            bar.update(tasks[name], completed=done)

        yield watch


def _pack(
    tiles: Path, out: Path, extractor: Any, labels: Any, found: Any, side: int | None, output: Output
) -> int | None:
    from bagwise.data.slides import pack_features
    from bagwise.io import hold_lock

    with hold_lock(out.parent / f".{out.name}.lock") as acquired:
        if not acquired:
            output.print(f"another process is packing {out}")
            return None
        return pack_features(tiles, out, extractor, labels, tuple(found.bad), side)


def _print_summary(found: Any, tiles: Path, out: Path, packed: int | None, labelled: bool, output: Output) -> None:
    for name, reason in found.bad.items():
        output.print(f"left out {name}: {reason}")
    for name in found.empty:
        output.print(f"left out {name}: it has no tiles")
    output.print(f"{len(found.done)} slide{'s' * (len(found.done) != 1)} extracted, {len(found.skipped)} done before")
    if found.elsewhere:
        output.print_units_elsewhere(found.elsewhere, tiles)
    elif packed is not None:
        output.print_written(out, f"{packed} bag{'s' * (packed != 1)}")
        again = f"label the names in {out / 'bags.csv'} (columns slide_id, label) and run again with --labels"
        output.print(f"next: {f'bagwise train {out} runs/first' if labelled else again}")
