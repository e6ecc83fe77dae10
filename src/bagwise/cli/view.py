"""bagwise view: look at a run's bags, and at what decided in them, in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise view runs/first")
def view(
    run: Annotated[Path, typer.Argument(help="A run's folder, a folder of runs, or a run's report.")],
    slides: Annotated[Path | None, typer.Option(help="The folder of the slides or images that the bags show.")] = None,
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes a port that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show the bags of a run in the browser: images, weights, contributions, the instances that decided.

    The viewer answers this machine alone, and only reads. For a run on another machine, start it there with
    --port 8000 --no-browser, type `ssh -L 8000:127.0.0.1:8000 MACHINE` here, and open http://127.0.0.1:8000/.
    """
    from bagwise.viewer.server import address_of, check_packages, serve, take_port

    check_packages()
    output = Output(quiet, as_json)
    with take_port(port) as listening:
        from bagwise.viewer.opening import open_runs
        from bagwise.viewer.routes import make_app
        from bagwise.viewer.session import Session

        session = Session(open_runs(run), slides)
        output.say(f"showing {run} at {address_of(listening)} (Ctrl-C ends it)")
        output.result({"address": address_of(listening)})
        serve(make_app(session), listening, not no_browser, session.warm)
