"""``bagwise import``: convert a feature folder of another tool and a table of labels into a folder of bags."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.application import app
from bagwise.cli.options import Backend, Scheduler, Workers, choose_workers, read_options
from bagwise.cli.output import Json, Output, Quiet
from bagwise.errors import InputError

EXAMPLE = "Example: bagwise import features/ --labels labels.csv --out bags/"
COMMON_NAMES = "[default: a column with a common name]"


@app.command("import", epilog=EXAMPLE)
def import_(
    folder: Annotated[
        Path, typer.Argument(metavar="FEATURES_FOLDER", help="Feature folder of CLAM, TRIDENT, STAMP or slideflow.")
    ],
    labels: Annotated[
        Path, typer.Option(help="csv or parquet file with case_id, slide_id and label, or STAMP's clini table.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of bags to write.")],
    bag: Annotated[
        str, typer.Option(help="What a bag is: slide, or case (all slides of a case, without positions).")
    ] = "slide",
    slide_table: Annotated[
        Path | None,
        typer.Option(help="Table with the case of each slide, if --labels has one row per case. [default: none]"),
    ] = None,
    label_column: Annotated[
        list[str] | None,
        typer.Option(help=f"Column with the label; several are separated by commas, or repeated. {COMMON_NAMES}"),
    ] = None,
    time_column: Annotated[str | None, typer.Option(help="Column with the time of survival. [default: none]")] = None,
    event_column: Annotated[
        str | None, typer.Option(help="Column with the event of survival, 0 or 1. [default: none]")
    ] = None,
    censorship_column: Annotated[
        str | None, typer.Option(help="Column with the censorship, 1 − event, instead of the event. [default: none]")
    ] = None,
    slide_column: Annotated[str | None, typer.Option(help=f"Column with the name of the slide. {COMMON_NAMES}")] = None,
    case_column: Annotated[str | None, typer.Option(help=f"Column with the name of the case. {COMMON_NAMES}")] = None,
    extractor: Annotated[
        str | None, typer.Option(help="Name of the feature extractor. [default: read from the files, if stated]")
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(
            help="Tool that wrote the features: clam, trident, stamp or slideflow. [default: detected from the files]"
        ),
    ] = None,
    mpp: Annotated[
        float | None,
        typer.Option(help="Micrometres per level-0 pixel, for STAMP and slideflow. [default: read from the files]"),
    ] = None,
    patches: Annotated[
        Path | None, typer.Option(help="Folder of the patch files of CLAM or TRIDENT. [default: beside the features]")
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out slides that cannot be read, or have no label or no features. [default: no]"
        ),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the bags in OUT. [default: no]")] = False,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared", help="Share the work with other copies of this command, e.g. a job array. [default: no]"
        ),
    ] = False,
    workers: Workers = 1,
    backend: Backend = "joblib",
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Convert features of CLAM, TRIDENT, STAMP or slideflow to bags.

    Slides are read one at a time, to limit memory. Slides of one case stay together when bags are split. With --shared
    or several workers, slides are stored in OUT.parts until all are packed; run the same command again to resume.
    Workers of a Dask cluster must have access to FEATURES_FOLDER and OUT under the same paths.
    """
    from bagwise.data.formats import open_feature_folder, read_slide_labels

    if bag not in ("slide", "case"):
        raise InputError(f"--bag '{bag}' is unknown; use --bag slide or --bag case")
    if shared:
        _check_shared(out, overwrite)
    output = Output(quiet, as_json)
    where = choose_workers(workers, backend, scheduler)
    found = open_feature_folder(folder, tool, mpp, patches)
    output.print(f"{folder}: features of {found.features.tool}, because {found.reason}")
    survival = (time_column, event_column, censorship_column)
    table = read_slide_labels(labels, slide_table, _split_names(label_column), slide_column, case_column, *survival)
    settings: dict[str, Any] = {"by_case": bag == "case", "extractor": extractor, "skip_bad": skip_bad}
    settings["overwrite"] = overwrite
    result: dict[str, Any] = {"out": str(out), "tool": found.features.tool, "reason": found.reason}
    if where == 1 and not shared:
        report = _import(found.features, table, out, output, **settings)
    else:
        report = _import_shared(found.features, table, out, output, result, workers=where, **settings)
    if report is not None:
        _print_report(output, report.as_dict())
        output.print_written(out, f"{report.bags} bags, {report.instances} instances")
        output.print(f"next: {shlex.join(['bagwise', 'train', str(out), 'runs/first'])}")
    output.print_result(result if report is None else result | report.as_dict())


def _split_names(given: list[str] | None) -> str | list[str] | None:
    """Return one name as it is, and several as a list; '["a,b"]' is one name with a comma."""
    names: list[str] = []
    for text in given or ():
        parsed = read_options([f"label_column={text}"], "--label-column")["label_column"] if text[:1] == "[" else None
        names += map(str, parsed) if isinstance(parsed, list) else [name.strip() for name in text.split(",")]
    return names[0] if len(names) == 1 else names or None


def _check_shared(out: Path, overwrite: bool) -> None:
    """Reject a shared import that would repeat the completed work of other commands."""
    from bagwise.io import MANIFEST

    if overwrite:
        raise InputError(
            f"--shared cannot be combined with --overwrite: a command that starts late would start "
            f"over; remove {out} instead"
        )
    if (out / MANIFEST).is_file():
        raise InputError(
            f"{out} already holds bags; if other copies of this command packed them, nothing is left to do; otherwise "
            "remove it or choose another --out"
        )


def _import(features: Any, table: Any, out: Path, output: Output, **settings: Any) -> Any:
    from bagwise.data.formats import import_features

    with output.show_progress("packing") as progress:
        return import_features(features, table, out, progress=progress, **settings)


def _import_shared(
    features: Any, table: Any, out: Path, output: Output, result: dict[str, Any], **settings: Any
) -> Any:
    """Return the report; if another command packs the bags, print a message and return None."""
    from bagwise.data.formats import get_parts_folder, import_shared

    with output.show_progress("reading, then packing") as progress:
        slides, report = import_shared(features, table, out, progress=progress, **settings)
    result |= slides._asdict()
    if report is None and slides.elsewhere:
        output.print_units_elsewhere(slides.elsewhere, get_parts_folder(out))
    elif report is None:
        output.print(f"all slides are read; another command is packing {out}, or has packed it")
    return report


def _print_report(output: Output, report: dict[str, Any]) -> None:
    rows = [
        ("slides found", str(report["slides_found"]), ""),
        ("without a label", str(len(report["without_label"])), _format_names(report["without_label"])),
        ("labels without features", str(len(report["without_features"])), _format_names(report["without_features"])),
        ("empty", str(len(report["empty"])), _format_names(report["empty"])),
        ("bad", str(len(report["bad"])), _format_names([*report["bad"]])),
        ("bags", str(report["bags"]), f"extractor {report['extractor'] or 'unknown; name it with --extractor NAME'}"),
    ]
    output.print_table("", rows)
    for slide, reason in report["bad"].items():
        output.print(f"bad: {slide}: {reason}")
    for note in report["notes"]:
        output.print(f"note: {note}")


def _format_names(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
