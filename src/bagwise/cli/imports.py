"""bagwise import: a folder of another tool's features and a table of labels → a folder of bags."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.errors import InputError

EXAMPLE = "Example: bagwise import FEATURES --labels labels.csv --out bags/"
Column = Annotated[str | None, typer.Option(help="Name of the column, where it is not a usual one.")]


@app.command("import", epilog=EXAMPLE)
def import_(
    folder: Annotated[Path, typer.Argument(metavar="FEATURES_FOLDER", help="Of CLAM, TRIDENT, STAMP or slideflow.")],
    labels: Annotated[Path, typer.Option(help="csv or parquet: case_id, slide_id, label; or STAMP's clini table.")],
    out: Annotated[Path, typer.Option(help="The folder of bags to write.")],
    bag: Annotated[str, typer.Option(help="slide, or case: its slides in one bag, without positions.")] = "slide",
    slide_table: Annotated[Path | None, typer.Option(help="Cases and slides, where labels are of cases.")] = None,
    label_column: Column = None,
    slide_column: Column = None,
    case_column: Column = None,
    extractor: Annotated[str | None, typer.Option(help="What made the features, where the files do not tell.")] = None,
    tool: Annotated[str | None, typer.Option(help="clam, trident, stamp or slideflow; found out if not given.")] = None,
    mpp: Annotated[float | None, typer.Option(help="Micrometres a level-0 pixel (STAMP, slideflow).")] = None,
    patches: Annotated[Path | None, typer.Option(help="Folder of CLAM's or TRIDENT's patch files.")] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out slides that cannot be read, or lack a label or features.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the bags that OUT holds.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Pack the features of slides and their labels once into a folder of bags, one slide in memory at a time.

    A bag is a slide, and slides of a case stay together when bags are split.
    """
    from bagwise.formats.features import open_features
    from bagwise.formats.importing import import_features
    from bagwise.formats.labels import read_labels

    if bag not in ("slide", "case"):
        raise InputError(f"--bag {bag} is unknown; choose slide or case")
    output = Output(quiet, as_json)
    found = open_features(folder, tool, mpp, patches)
    output.say(f"{folder}: features of {found.features.tool}, because {found.reason}")
    table = read_labels(labels, slide_table, label_column, slide_column, case_column)
    settings: dict[str, Any] = {"by_case": bag == "case", "extractor": extractor, "skip_bad": skip_bad}
    with output.progress("packing") as progress:
        report = import_features(found.features, table, out, overwrite=overwrite, progress=progress, **settings)
    _tell(output, report.as_dict())
    output.wrote(out, f"{report.bags} bags, {report.instances} instances")
    output.say(f"next: {shlex.join(['bagwise', 'train', str(out), 'runs/first'])}")
    output.result({"out": str(out), "tool": found.features.tool, "reason": found.reason, **report.as_dict()})


def _tell(output: Output, report: dict[str, Any]) -> None:
    rows = [
        ("slides found", str(report["slides_found"]), ""),
        ("without a label", str(len(report["without_label"])), _some(report["without_label"])),
        ("labels without features", str(len(report["without_features"])), _some(report["without_features"])),
        ("empty", str(len(report["empty"])), _some(report["empty"])),
        ("bad", str(len(report["bad"])), _some([*report["bad"]])),
        ("bags", str(report["bags"]), f"extractor {report['extractor'] or 'unknown: name it with --extractor'}"),
    ]
    output.table("", rows)
    for slide, reason in report["bad"].items():
        output.say(f"bad: {slide}: {reason}")
    for note in report["notes"]:
        output.say(f"note: {note}")


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
