"""Forged folders: the manifest is rewritten after a change, so that every SHA-256 matches."""

from bagwise.io.atomic import MANIFEST
from bagwise.io.json_files import read_json, write_json
from bagwise.io.manifest import SEAL, compute_seal, hash_files


def reseal(folder, **facts):
    """Record the files of a folder as they are now, those of a model within it first, and other facts if given."""
    if (folder / "model" / MANIFEST).exists():
        reseal(folder / "model")
    manifest = read_json(folder / MANIFEST)
    there = {name: entry for name, entry in hash_files(folder).items() if name in manifest["files"]}
    content = {**manifest, "files": there, **facts}
    write_json(folder / MANIFEST, {**content, SEAL: compute_seal(content)})
