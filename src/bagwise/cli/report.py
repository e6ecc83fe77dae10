"""``bagwise report``: write the HTML report of a run."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.cli.predict import RunFolder


@app.command(epilog="Example: bagwise report runs/first")
def report(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option(help="File to write. [default: RUN/report.html]")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the HTML report of a run.

    The report is a single page that needs no network.
    """
    from bagwise.report import write_report
    from bagwise.runs import Run

    output = Output(quiet, as_json)
    page = write_report(Run(run), out)
    output.print_written(page, "report")
    output.print_result({"report": str(page)})
