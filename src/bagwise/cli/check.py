"""bagwise check: is a folder still what was written?"""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.app import app
from bagwise.cli.output import Json, Output, Quiet


@app.command(epilog="Example: bagwise check runs/first")
def check(
    folder: Annotated[Path, typer.Argument(help="A folder of bags, a model's or a run's.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare every file of a folder with the SHA-256 in its manifest; exit code 2 if one differs."""
    from bagwise.files import MANIFEST, read_json, recover
    from bagwise.manifests import damages

    output = Output(quiet, as_json)
    recover(folder)
    found, manifest = damages(folder), read_json(folder / MANIFEST)
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if not str(kind).startswith("bagwise "):
        found.append(f"{MANIFEST} does not say what kind of folder of bagwise it is")
    output.result({"folder": str(folder), "kind": kind, "damages": found})
    if found:
        typer.echo(f"bagwise: {folder} is damaged: {'; '.join(found)}; restore it from a copy", err=True)
        raise typer.Exit(2)
    output.say(f"{folder} is whole ({kind})")
