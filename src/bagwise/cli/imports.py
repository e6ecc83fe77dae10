"""bagwise import: a folder of another tool's features and a table of labels → a folder of bags."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.workers import Backend, Scheduler, Workers, chosen_workers, tell_elsewhere
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
    shared: Annotated[
        bool, typer.Option("--shared", help="Share the work with others of this command, such as an array of jobs.")
    ] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Pack the features of slides and their labels once into a folder of bags, one slide in memory at a time.

    A bag is a slide, and slides of a case stay together when bags are split. With --shared or several workers, slides
    that were read lie in OUT.parts until all are packed; run again, it goes on where it stopped. Workers of a Dask
    cluster must see FEATURES_FOLDER and OUT under the same paths.
    """
    from bagwise.formats.features import open_features
    from bagwise.formats.labels import read_labels

    if bag not in ("slide", "case"):
        raise InputError(f"--bag {bag} is unknown; choose slide or case")
    if shared:
        _check_shared(out, overwrite)
    output = Output(quiet, as_json)
    where = chosen_workers(workers, backend, scheduler)
    found = open_features(folder, tool, mpp, patches)
    output.say(f"{folder}: features of {found.features.tool}, because {found.reason}")
    table = read_labels(labels, slide_table, label_column, slide_column, case_column)
    settings: dict[str, Any] = {"by_case": bag == "case", "extractor": extractor, "skip_bad": skip_bad}
    settings["overwrite"] = overwrite
    told: dict[str, Any] = {"out": str(out), "tool": found.features.tool, "reason": found.reason}
    if where == 1 and not shared:
        report = _import(found.features, table, out, output, **settings)
    else:
        report = _import_shared(found.features, table, out, output, told, workers=where, **settings)
    if report is not None:
        _tell(output, report.as_dict())
        output.wrote(out, f"{report.bags} bags, {report.instances} instances")
        output.say(f"next: {shlex.join(['bagwise', 'train', str(out), 'runs/first'])}")
    output.result(told if report is None else told | report.as_dict())


def _check_shared(out: Path, overwrite: bool) -> None:
    """A command that comes late must not do again what the others have done."""
    from bagwise.files import MANIFEST

    if overwrite:
        raise InputError(
            f"--shared does not go with --overwrite: a late command would begin anew; remove {out} instead"
        )
    if (out / MANIFEST).is_file():
        raise InputError(
            f"{out} holds bags already; if others of this command have packed them, all is done; else remove them, "
            "or choose a new folder"
        )


def _import(features: Any, table: Any, out: Path, output: Output, **settings: Any) -> Any:
    from bagwise.formats.importing import import_features

    with output.progress("packing") as progress:
        return import_features(features, table, out, progress=progress, **settings)


def _import_shared(features: Any, table: Any, out: Path, output: Output, told: dict[str, Any], **settings: Any) -> Any:
    """The report; None, and why, where this command is not the one that packs."""
    from bagwise.formats.parts import parts_folder
    from bagwise.formats.shared_import import import_shared

    with output.progress("reading, then packing") as progress:
        slides, report = import_shared(features, table, out, progress=progress, **settings)
    told |= slides._asdict()
    if report is None and slides.elsewhere:
        tell_elsewhere(slides.elsewhere, parts_folder(out), output)
    elif report is None:
        output.say(f"all slides are read; another command packs {out}, or has packed it")
    return report


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
