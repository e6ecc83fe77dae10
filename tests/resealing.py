"""Folders forged with care: what was changed in them is recorded anew, so that no SHA-256 tells."""

from bagwise.files import MANIFEST, read_json, write_json
from bagwise.manifests import SEAL, fingerprints, seal


def reseal(folder, **facts):
    """Record the files of a folder as they are now, those of a model within it first, and other facts if given."""
    if (folder / "model" / MANIFEST).exists():
        reseal(folder / "model")
    manifest = read_json(folder / MANIFEST)
    there = {name: entry for name, entry in fingerprints(folder).items() if name in manifest["files"]}
    content = {**manifest, "files": there, **facts}
    write_json(folder / MANIFEST, {**content, SEAL: seal(content)})
