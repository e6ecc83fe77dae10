"""``bagwise check``: verify the files of a folder."""

from pathlib import Path
from typing import Annotated

import typer

from bagwise.cli.application import app
from bagwise.cli.output import Json, Output, Quiet
from bagwise.errors import InputError


@app.command(epilog="Example: bagwise check runs/first")
def check(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of bags, of a model or of a run.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare the files of a folder with their recorded SHA-256.

    The hashes are recorded in the manifest of the folder. The exit code is 2 if a file differs.
    """
    from bagwise.io import MANIFEST, find_damage, read_json, recover_folder

    output = Output(quiet, as_json)
    recover_folder(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; check the path")
    damages, manifest = find_damage(folder), read_json(folder / MANIFEST)
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if not str(kind).startswith("bagwise "):
        damages.append(f"{MANIFEST} does not state which kind of bagwise folder this is")
    output.print_result({"folder": str(folder), "kind": kind, "damages": damages})
    if damages:
        typer.echo(f"bagwise: {folder} is damaged: {'; '.join(damages)}; restore it from a copy", err=True)
        raise typer.Exit(2)
    output.print(f"{folder} is intact ({kind})")
