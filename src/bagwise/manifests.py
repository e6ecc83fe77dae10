"""Sealed folders: a manifest with the size and SHA-256 of every file, and of itself."""

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from bagwise.errors import InputError
from bagwise.files import MANIFEST, read_json, recover, sha256, write_json

SEAL = "seal"
VERSION, UNSEALED = 2, 1  # of manifests; the first ones did not seal themselves, and are read too


def fingerprints(folder: Path, passing: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of every file below a folder but the manifest, hidden files, and those that are passing."""
    folder = Path(folder)
    return {
        file.relative_to(folder).as_posix(): {"bytes": file.stat().st_size, "sha256": sha256(file)}
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and file != folder / MANIFEST
        and not file.name.startswith(".")
        and file.relative_to(folder).as_posix() not in passing
    }


def write_manifest(folder: Path, kind: str, passing: Collection[str] = (), **facts: Any) -> None:
    """Seal a folder: what it is, any facts about it, and the fingerprint of each file that is there to stay."""
    content = {"kind": kind, "version": VERSION, **facts, "files": fingerprints(folder, passing)}
    write_json(Path(folder) / MANIFEST, {**content, SEAL: seal(content)})


def seal(manifest: dict[str, Any]) -> str:
    """The SHA-256 of all that a manifest says, so that a change of the manifest itself is found too."""
    said = {name: value for name, value in manifest.items() if name != SEAL}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The manifest of a folder of the given kind, with every listed file present and of its recorded size."""
    folder = Path(folder)
    recover(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; check the path")
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        raise InputError(f"{folder} is not a {kind} folder: its {MANIFEST} does not say so")
    if manifest.get("version") not in (UNSEALED, VERSION):
        raise InputError(f"{folder} was written by a newer bagwise; update bagwise to read it")
    missing = list(_problems(folder, manifest, deep=False))
    if missing:
        raise InputError(f"{folder}: {'; '.join(missing)}; restore the folder from a copy or make it again")
    return manifest


def read_sealed(folder: Path, kind: str, needed: Collection[str], by_size: Collection[str] = ()) -> dict[str, Any]:
    """The manifest of a folder whose files all have their recorded SHA-256; those in ``by_size`` only their size.

    needed : files that are going to be read: a manifest that is silent about one of them vouches for nothing
    """
    manifest = read_manifest(folder, kind)
    found = [f"{name} is not in {MANIFEST}" for name in needed if name not in manifest["files"]]
    found += _problems(Path(folder), manifest, deep=True, by_size=by_size)
    if found:
        raise InputError(f"{folder} is damaged: {'; '.join(found)}; restore it from a copy or make it again")
    return manifest


def damages(folder: Path) -> list[str]:
    """Compare every file with the manifest; one sentence a difference, none when the folder is whole."""
    return list(_problems(Path(folder), read_json(Path(folder) / MANIFEST), deep=True))


def _problems(folder: Path, manifest: Any, deep: bool, by_size: Collection[str] = ()) -> Iterator[str]:
    entries = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(entries, dict) or not entries:
        yield f"{MANIFEST} lists no files"
        return
    if manifest.get("version") != UNSEALED and manifest.get(SEAL) != seal(manifest):
        yield f"{MANIFEST} does not have its own recorded SHA-256: it changed"
    for name, recorded in entries.items():
        if not (isinstance(recorded, dict) and {"bytes", "sha256"} <= recorded.keys()):
            yield f"{MANIFEST} does not record the size and SHA-256 of {name}"
        elif problem := _difference(folder, name, recorded, deep and name not in by_size):
            yield f"{name} {problem}"


def _difference(folder: Path, name: str, recorded: dict[str, Any], deep: bool) -> str | None:
    """How a file differs from what is recorded of it; None if it does not."""
    file = folder / name
    try:
        if not file.resolve().is_relative_to(folder.resolve()):
            return "points outside the folder"
        if not file.is_file():
            return "is missing"
        if file.stat().st_size != recorded["bytes"]:
            return f"has {file.stat().st_size} bytes instead of {recorded['bytes']}"
        if deep and sha256(file) != recorded["sha256"]:
            return "does not have the recorded SHA-256: its content changed"
    except (OSError, RuntimeError, ValueError) as error:  # no name of a file, a link to itself, a file not to be read
        return f"cannot be read ({error})"
    return None
