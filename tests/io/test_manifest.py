"""Manifests: every change of a file, or of the manifest itself, is detected."""

import hashlib
import json

import pytest

from bagwise.errors import InputError
from bagwise.io import manifest as manifest_module
from bagwise.io.atomic import MANIFEST
from bagwise.io.json_files import read_json, write_json
from bagwise.io.manifest import (
    SEAL,
    UNSEALED,
    compute_seal,
    find_damage,
    hash_file,
    read_manifest,
    read_verified_manifest,
)


def rewrite_manifest(folder, **changes):
    """Change entries of a manifest and seal it again."""
    path = folder / MANIFEST
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({**content, SEAL: compute_seal(content)}))


def test_write_manifest_records_every_file_below_the_folder(sealed):
    manifest = read_manifest(sealed, "bags")
    assert manifest["count"] == 2
    assert sorted(manifest["files"]) == ["a.bin", "inner/b.bin"]
    assert manifest["files"]["a.bin"] == {"bytes": 13, "sha256": hashlib.sha256(b"one two three").hexdigest()}
    assert find_damage(sealed) == []


def test_find_damage_reports_a_missing_file(sealed):
    (sealed / "inner" / "b.bin").unlink()
    with pytest.raises(InputError, match=r"inner/b\.bin is missing; restore the folder from a copy or create it again"):
        read_manifest(sealed, "bags")
    assert find_damage(sealed) == ["inner/b.bin is missing"]


def test_find_damage_reports_a_changed_size(sealed):
    (sealed / "a.bin").write_bytes(b"short")
    with pytest.raises(InputError, match=r"a\.bin has 5 bytes instead of 13"):
        read_manifest(sealed, "bags")
    assert find_damage(sealed) == ["a.bin has 5 bytes instead of 13"]


def test_find_damage_reports_a_flipped_bit_which_read_manifest_does_not_detect(sealed):
    content = bytearray((sealed / "a.bin").read_bytes())
    content[5] ^= 1
    (sealed / "a.bin").write_bytes(content)
    assert read_manifest(sealed, "bags")["count"] == 2
    assert find_damage(sealed) == ["a.bin does not match the recorded SHA-256: its content changed"]


@pytest.mark.parametrize("name", ["../x", "inner/../../x", "absolute"])
def test_find_damage_reports_an_entry_outside_the_folder(sealed, name):
    outside = sealed.parent / "x"
    outside.write_bytes(b"secret")
    name = str(outside) if name == "absolute" else name
    rewrite_manifest(sealed, files={name: {"bytes": 6, "sha256": hash_file(outside)}})
    assert find_damage(sealed) == [f"{name} points outside the folder"]
    with pytest.raises(InputError, match="points outside the folder"):
        read_manifest(sealed, "bags")


def test_find_damage_reports_a_link_to_outside_the_folder(sealed):
    outside = sealed.parent / "x"
    outside.write_bytes(b"one two three")
    (sealed / "a.bin").unlink()
    (sealed / "a.bin").symlink_to(outside)
    assert find_damage(sealed) == ["a.bin points outside the folder"]
    with pytest.raises(InputError, match="points outside the folder"):
        read_manifest(sealed, "bags")


def test_read_manifest_rejects_another_kind_or_version(sealed):
    with pytest.raises(InputError, match=r"is not a run folder: its manifest\.json does not have this kind"):
        read_manifest(sealed, "run")
    rewrite_manifest(sealed, version=3)
    with pytest.raises(InputError, match="written by a newer bagwise; update bagwise"):
        read_manifest(sealed, "bags")


def test_read_manifest_rejects_a_missing_folder_or_manifest(tmp_path):
    with pytest.raises(InputError, match="is not a folder; check the path"):
        read_manifest(tmp_path / "nowhere", "bags")
    with pytest.raises(InputError, match=r"manifest\.json is missing"):
        read_manifest(tmp_path, "bags")


def test_read_verified_manifest_requires_needed_files_and_their_sha256(sealed):
    assert read_verified_manifest(sealed, "bags", needed=["a.bin"])["count"] == 2
    with pytest.raises(InputError, match=r"c\.bin is not in manifest\.json"):
        read_verified_manifest(sealed, "bags", needed=["a.bin", "c.bin"])
    (sealed / "a.bin").write_bytes(b"one two thret")
    with pytest.raises(InputError, match=r"a\.bin does not match the recorded SHA-256"):
        read_verified_manifest(sealed, "bags", needed=[])
    assert read_verified_manifest(sealed, "bags", needed=["a.bin"], by_size=["a.bin"])["count"] == 2


def test_find_damage_reports_a_change_of_the_manifest_itself(sealed):
    path = sealed / MANIFEST
    path.write_text(path.read_text().replace('"count": 2', '"count": 3'))
    assert find_damage(sealed) == ["manifest.json does not match its own recorded SHA-256: its content changed"]
    with pytest.raises(InputError, match="its own recorded SHA-256"):
        read_manifest(sealed, "bags")


def test_read_manifest_accepts_version_1_without_a_seal(sealed):
    manifest = read_json(sealed / MANIFEST)
    del manifest[SEAL]
    write_json(sealed / MANIFEST, manifest)
    assert find_damage(sealed) == ["manifest.json does not match its own recorded SHA-256: its content changed"]
    write_json(sealed / MANIFEST, {**manifest, "version": UNSEALED})
    assert find_damage(sealed) == []
    assert read_manifest(sealed, "bags")["count"] == 2


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "loop"])
def test_read_manifest_rejects_names_that_no_file_can_have(sealed, name):
    (sealed / "loop").symlink_to("loop")
    rewrite_manifest(sealed, files={name: {"bytes": 6, "sha256": "0"}})
    with pytest.raises(InputError, match=r"cannot be read|is missing"):
        read_manifest(sealed, "bags")


@pytest.mark.parametrize("entries", [{"a.bin": {}}, {"a.bin": 13}, ["a.bin"], None, {}])
def test_read_manifest_rejects_malformed_entries(sealed, entries):
    rewrite_manifest(sealed, files=entries)
    with pytest.raises(InputError, match=r"manifest\.json (lists no files|does not record the size and SHA-256)"):
        read_manifest(sealed, "bags")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 1000])
def test_hash_file_does_not_depend_on_the_chunks(tmp_path, monkeypatch, size):
    monkeypatch.setattr(manifest_module, "CHUNK", 8)
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "a").write_bytes(content)
    assert hash_file(tmp_path / "a") == hashlib.sha256(content).hexdigest()
