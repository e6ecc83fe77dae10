"""bagwise tile: find the tissue of whole slides and cut it into tiles."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise tile slides/ --out tiles/ --size 256 --mpp 0.5")
def tile(
    slides: Annotated[list[Path], typer.Argument(help="Slides, or folders of slides.")],
    out: Annotated[Path, typer.Option(help="The folder to write to; slides done there before are skipped.")],
    size: Annotated[int, typer.Option(help="Side of a tile in pixels.")] = 256,
    mpp: Annotated[float | None, typer.Option(help="Micrometres a pixel of a tile; 0.5 if no level is given.")] = None,
    level: Annotated[int | None, typer.Option(help="A level of the slide instead of --mpp.")] = None,
    overlap: Annotated[int, typer.Option(help="Pixels that neighbouring tiles share.")] = 0,
    tissue: Annotated[float, typer.Option(help="The least share of a tile that must be tissue.")] = 0.5,
    smallest: Annotated[float, typer.Option(help="Drop regions of tissue smaller than so many tiles.")] = 0.5,
    slide_mpp: Annotated[float | None, typer.Option(help="Micrometres a pixel of slides that do not say.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out slides that cannot be read.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find the tissue of whole slides and list the tiles on it, with a thumbnail of each slide to look at."""
    from bagwise.errors import InputError
    from bagwise.slides.packages import check_openslide
    from bagwise.slides.slide import list_slides
    from bagwise.slides.tiling import Wish, check

    output = Output(quiet, as_json)
    check_openslide()
    wanted = 0.5 if mpp is None and level is None else mpp
    wish = Wish(size, wanted, level, overlap, tissue, smallest, slide_mpp)
    check(wish)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; choose another --out")
    found: dict[str, Any] = {"folder": str(out), "tiles": {}, "skipped": [], "bad": {}}
    _tile_all(list_slides(slides), out, wish, skip_bad, found, output)
    if not found["tiles"]:
        raise InputError(f"no slide can be read: {'; '.join(found['bad'].values())}")
    output.result(found)
    _tell(found, out, output)


def _tile_all(slides: list[Path], out: Path, wish: Any, skip_bad: bool, found: dict[str, Any], output: Output) -> None:
    from rich.console import Console
    from rich.progress import track

    from bagwise.errors import InputError
    from bagwise.slides.tile_files import find_tiles, tile_to_file

    for slide in track(slides, "tiling", console=Console(stderr=True), disable=not output.talks):
        tiles = find_tiles(slide, out, wish)
        if tiles is not None:
            found["skipped"].append(slide.stem)
        try:
            tiles = tiles or tile_to_file(slide, out, wish)
        except InputError as mistake:
            if not skip_bad:
                raise InputError(f"{mistake} (--skip-bad leaves such slides out)") from None
            found["bad"][slide.stem] = str(mistake)
            continue
        found["tiles"][slide.stem] = len(tiles.positions)


def _tell(found: dict[str, Any], out: Path, output: Output) -> None:
    counts = found["tiles"]
    for name, reason in found["bad"].items():
        output.say(f"left out {name}: {reason}")
    for name in (name for name, count in counts.items() if count == 0):
        output.say(f"no tissue found on {name}: look at {out / 'thumbnails' / name}.png")
    n_slides = f"{len(counts)} slide{'s' * (len(counts) != 1)}"
    done = f", {len(found['skipped'])} of them done before" if found["skipped"] else ""
    output.say(f"{sum(counts.values())} tiles on {n_slides}{done}")
    output.wrote(out, "tiles")
    output.say(f"look at the kept tiles in {out / 'thumbnails'}; next: bagwise extract {out} --out bags/")
