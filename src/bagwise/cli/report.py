"""bagwise report: a run → one page to look at."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.judge import RunFolder
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise report runs/first")
def report(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option(help="The page to write. [default: RUN/report.html]")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a run's report: one HTML page that needs no network."""
    from bagwise.report import write_report
    from bagwise.runs import Run

    output = Output(quiet, as_json)
    page = write_report(Run(run), out)
    output.wrote(page, "report")
    output.result({"report": str(page)})
