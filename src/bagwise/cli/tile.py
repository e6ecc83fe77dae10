"""``bagwise tile``: find the tissue on whole slides and list its tiles."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise tile slides/ --out tiles/ --size 256 --mpp 0.5")
def tile(
    slides: Annotated[list[Path], typer.Argument(metavar="SLIDES", help="Slides, or folders of slides.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; slides already done there are skipped.")],
    size: Annotated[int, typer.Option(help="Side of a tile in pixels.")] = 256,
    mpp: Annotated[
        float | None,
        typer.Option(help="Resolution of the tiles in micrometres per pixel. [default: 0.5, unless --level is given]"),
    ] = None,
    level: Annotated[
        int | None, typer.Option(help="Pyramid level to cut the tiles at, instead of --mpp. [default: none]")
    ] = None,
    overlap: Annotated[int, typer.Option(help="Overlap of neighbouring tiles in pixels.")] = 0,
    tissue: Annotated[float, typer.Option(help="Minimum share of tissue in a tile, from 0 to 1.")] = 0.5,
    smallest: Annotated[float, typer.Option(help="Drop tissue regions smaller than this many tiles.")] = 0.5,
    slide_mpp: Annotated[
        float | None,
        typer.Option(help="Micrometres per level-0 pixel, for slides that do not state it. [default: none]"),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out slides that cannot be read. [default: no]")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find the tissue on whole slides and list its tiles.

    A thumbnail of each slide shows the tiles.
    """
    from bagwise.data.slides import TilingSettings, check_tiling_settings, list_slides
    from bagwise.errors import InputError
    from bagwise.io import check_openslide

    output = Output(quiet, as_json)
    check_openslide()
    settings = TilingSettings(
        size=size,
        mpp=0.5 if mpp is None and level is None else mpp,
        level=level,
        overlap=overlap,
        tissue=tissue,
        smallest=smallest,
        slide_mpp=slide_mpp,
    )
    check_tiling_settings(settings)
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; give a folder")
    summary: dict[str, Any] = {"folder": str(out), "tiles": {}, "skipped": [], "bad": {}}
    _tile_slides(list_slides(slides), out, settings, skip_bad, summary, output)
    if not summary["tiles"]:
        raise InputError(f"none of the slides can be read: {'; '.join(summary['bad'].values())}")
    output.print_result(summary)
    _print_summary(summary, out, output)


def _tile_slides(
    slides: list[Path], out: Path, settings: Any, skip_bad: bool, summary: dict[str, Any], output: Output
) -> None:
    from rich.console import Console
    from rich.progress import track

    from bagwise.data.slides import find_tiles, tile_to_file
    from bagwise.errors import InputError

    for slide in track(slides, "tiling", console=Console(stderr=True), disable=not output.is_verbose):
        tiles = find_tiles(slide, out, settings)
        if tiles is not None:
            summary["skipped"].append(slide.stem)
        try:
            tiles = tiles or tile_to_file(slide, out, settings)
        except InputError as error:
            if not skip_bad:
                raise InputError(f"{error} (add --skip-bad to leave such slides out)") from None
            summary["bad"][slide.stem] = str(error)
            continue
        summary["tiles"][slide.stem] = len(tiles.positions)


def _print_summary(summary: dict[str, Any], out: Path, output: Output) -> None:
    counts = summary["tiles"]
    for name, reason in summary["bad"].items():
        output.print(f"left out {name}: {reason}")
    for name in (name for name, count in counts.items() if count == 0):
        output.print(f"no tissue found on {name}: see {out / 'thumbnails' / name}.png")
    n_slides = f"{len(counts)} slide{'s' * (len(counts) != 1)}"
    skipped = f", {len(summary['skipped'])} of them done before" if summary["skipped"] else ""
    output.print(f"{sum(counts.values())} tiles on {n_slides}{skipped}")
    output.print_written(out, "tiles")
    output.print(f"check the tiles in {out / 'thumbnails'}; next: bagwise extract {out} --out bags/")
