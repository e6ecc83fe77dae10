"""Manifests: ``manifest.json`` records a folder's kind, the size and SHA-256 of every file, and its own SHA-256."""

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bagwise.errors import InputError
from bagwise.io.atomic import MANIFEST
from bagwise.io.json_files import read_json, write_json
from bagwise.io.open_folders import OpenFolder, read_folder

CHUNK = 1 << 20
SEAL = "seal"  # key of the manifest's own SHA-256
VERSION, UNSEALED = 2, 1  # manifests of version 1 do not record their own SHA-256, but can be read


def write_manifest(folder: Path, kind: str, passing: Collection[str] = (), **facts: Any) -> None:
    """Write the manifest of a folder.

    Parameters
    ----------
    folder : Path
        Folder to which all other files have been written.
    kind : str
        Kind of the folder, for example "bagwise bags".
    passing : collection of str, default=()
        Files to leave out, because they may change or be removed later.
    **facts : object
        Metadata to record; values must be JSON serializable.
    """
    content = {"kind": kind, "version": VERSION, **facts, "files": hash_files(folder, passing)}
    write_json(Path(folder) / MANIFEST, {**content, SEAL: compute_seal(content)})


def read_manifest(folder: Path | OpenFolder, kind: str) -> dict[str, Any]:
    """Read the manifest of a folder and check that every listed file exists and has its recorded size.

    Parameters
    ----------
    folder : Path or OpenFolder
        Folder with a manifest.
    kind : str
        Kind that the folder must have.

    Returns
    -------
    dict
        Content of the manifest.

    Raises
    ------
    InputError
        If the folder is missing, of another kind or version, or incomplete.
    """
    if not isinstance(folder, OpenFolder):
        return read_folder(folder, lambda opened: read_manifest(opened, kind))
    opened, folder = folder, folder.path
    manifest = _read_content(opened)
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        raise InputError(f"{folder} is not a {kind} folder: its {MANIFEST} does not have this kind; check the path")
    if manifest.get("version") not in (UNSEALED, VERSION):
        raise InputError(f"{folder} was written by a newer bagwise; update bagwise to read it")
    problems = list(_find_problems(opened, manifest, check_hashes=False))
    if problems:
        raise InputError(f"{folder}: {'; '.join(problems)}; restore the folder from a copy or create it again")
    return manifest


def _read_content(opened: OpenFolder) -> Any:
    return read_json(opened.path / MANIFEST, lambda: opened.open_file(MANIFEST).read())


def read_verified_manifest(
    folder: Path | OpenFolder, kind: str, needed: Collection[str], by_size: Collection[str] = ()
) -> dict[str, Any]:
    """Read the manifest of a folder and check the SHA-256 of every listed file.

    Parameters
    ----------
    folder : Path or OpenFolder
        Folder with a manifest.
    kind : str
        Kind that the folder must have.
    needed : collection of str
        Files that the manifest must list.
    by_size : collection of str, default=()
        Files for which only the size is checked.

    Returns
    -------
    dict
        Content of the manifest.

    Raises
    ------
    InputError
        If the folder is missing, of another kind or version, or damaged.
    """
    if not isinstance(folder, OpenFolder):
        return read_folder(folder, lambda opened: read_verified_manifest(opened, kind, needed, by_size))
    manifest = read_manifest(folder, kind)
    problems = [f"{name} is not in {MANIFEST}" for name in needed if name not in manifest["files"]]
    problems += _find_problems(folder, manifest, check_hashes=True, by_size=by_size)
    if problems:
        raise InputError(f"{folder.path} is damaged: {'; '.join(problems)}; restore it from a copy or create it again")
    return manifest


def find_damage(folder: Path) -> list[str]:
    """Compare the files of a folder with the sizes and SHA-256 in its manifest.

    Parameters
    ----------
    folder : Path
        Folder with a manifest.

    Returns
    -------
    list of str
        Description of each difference; empty if there is none.
    """
    return read_folder(folder, lambda opened: list(_find_problems(opened, _read_content(opened), check_hashes=True)))


def hash_file(path: Path) -> str:
    """Compute the SHA-256 of a file, which is read in chunks.

    Parameters
    ----------
    path : Path
        Path of the file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    with Path(path).open("rb") as stream:
        return _hash_stream(stream)


def _hash_stream(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def hash_files(folder: Path, passing: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the size and SHA-256 of every file in a folder, except the manifest, hidden files and ``passing``."""
    folder = Path(folder)
    return {
        file.relative_to(folder).as_posix(): {"bytes": file.stat().st_size, "sha256": hash_file(file)}
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and file != folder / MANIFEST
        and not file.name.startswith(".")
        and file.relative_to(folder).as_posix() not in passing
    }


def compute_seal(manifest: dict[str, Any]) -> str:
    """Compute the SHA-256 of the content of a manifest, so that changes of the manifest are detected too."""
    content = {name: value for name, value in manifest.items() if name != SEAL}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _find_problems(
    folder: OpenFolder, manifest: Any, check_hashes: bool, by_size: Collection[str] = ()
) -> Iterator[str]:
    entries = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(entries, dict) or not entries:
        yield f"{MANIFEST} lists no files"
        return
    if manifest.get("version") != UNSEALED and manifest.get(SEAL) != compute_seal(manifest):
        yield f"{MANIFEST} does not match its own recorded SHA-256: its content changed"
    for name, recorded in entries.items():
        if not (isinstance(recorded, dict) and {"bytes", "sha256"} <= recorded.keys()):
            yield f"{MANIFEST} does not record the size and SHA-256 of {name}"
        elif problem := _find_difference(folder, name, recorded, check_hashes and name not in by_size):
            yield f"{name} {problem}"


def _find_difference(folder: OpenFolder, name: str, recorded: dict[str, Any], check_hash: bool) -> str | None:
    """Return how a file differs from its entry in the manifest; None if there is no difference."""
    file = folder.path / name
    try:
        if not file.resolve().is_relative_to(folder.path.resolve()):
            return "points outside the folder"
        if not file.is_file():
            return "is missing"
        if (size := folder.get_size(name)) != recorded["bytes"]:
            return f"has {size} bytes instead of {recorded['bytes']}"
        if check_hash:
            with folder.read_file(name) as stream:
                if _hash_stream(stream) != recorded["sha256"]:
                    return "does not match the recorded SHA-256: its content changed"
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # an invalid name, a link to itself, or an unreadable file
        return f"cannot be read ({error})"
    return None
