"""``bagwise view``: explore the bags of a run in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise view runs/first")
def view(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run, folder of several runs, or report of a run.")
    ],
    slides: Annotated[
        Path | None, typer.Option(help="Folder of the slides or images. [default: the images of the data, if any]")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 selects a free port.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser. [default: no]")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Browse the bags of a run in a local web viewer.

    It shows images, weights, contributions and the instances with the highest values. The viewer accepts requests from
    this machine only, and never writes. For a run on another machine, start it there with --port 8000 --no-browser, run
    `ssh -L 8000:127.0.0.1:8000 MACHINE` here, and open http://127.0.0.1:8000/.
    """
    from bagwise.viewer import bind_port, check_viewer_packages, get_address, run_server

    check_viewer_packages()
    output = Output(quiet, as_json)
    with bind_port(port) as listening:
        from bagwise.viewer import Session, make_app, open_runs

        session = Session(open_runs(run), slides)
        output.print(f"showing {run} at {get_address(listening)} (stop with Ctrl-C)")
        output.print_result({"address": get_address(listening)})
        run_server(make_app(session), listening, not no_browser, session.preload)
