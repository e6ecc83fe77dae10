"""A manifest finds what changed, itself included."""

import hashlib
import json

import pytest

from bagwise import files, manifests
from bagwise.errors import InputError


def rewrite_manifest(folder, **changes):
    path = folder / files.MANIFEST
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({**content, manifests.SEAL: manifests.seal(content)}))


def test_a_manifest_seals_every_file_below(sealed):
    manifest = manifests.read_manifest(sealed, "bags")
    assert manifest["count"] == 2
    assert sorted(manifest["files"]) == ["a.bin", "inner/b.bin"]
    assert manifest["files"]["a.bin"] == {"bytes": 13, "sha256": hashlib.sha256(b"one two three").hexdigest()}
    assert manifests.damages(sealed) == []


def test_a_missing_file_is_found(sealed):
    (sealed / "inner" / "b.bin").unlink()
    with pytest.raises(InputError, match=r"inner/b\.bin is missing; restore the folder from a copy or make it again"):
        manifests.read_manifest(sealed, "bags")
    assert manifests.damages(sealed) == ["inner/b.bin is missing"]


def test_a_changed_size_is_found(sealed):
    (sealed / "a.bin").write_bytes(b"short")
    with pytest.raises(InputError, match=r"a\.bin has 5 bytes instead of 13"):
        manifests.read_manifest(sealed, "bags")
    assert manifests.damages(sealed) == ["a.bin has 5 bytes instead of 13"]


def test_a_flipped_bit_is_found_by_damages_and_not_on_every_load(sealed):
    content = bytearray((sealed / "a.bin").read_bytes())
    content[5] ^= 1
    (sealed / "a.bin").write_bytes(content)
    assert manifests.read_manifest(sealed, "bags")["count"] == 2
    assert manifests.damages(sealed) == ["a.bin does not have the recorded SHA-256: its content changed"]


@pytest.mark.parametrize("name", ["../x", "inner/../../x", "absolute"])
def test_an_entry_that_points_outside_the_folder_is_reported(sealed, name):
    outside = sealed.parent / "x"
    outside.write_bytes(b"secret")
    name = str(outside) if name == "absolute" else name
    rewrite_manifest(sealed, files={name: {"bytes": 6, "sha256": files.sha256(outside)}})
    assert manifests.damages(sealed) == [f"{name} points outside the folder"]
    with pytest.raises(InputError, match="points outside the folder"):
        manifests.read_manifest(sealed, "bags")


def test_a_link_that_points_outside_the_folder_is_reported(sealed):
    outside = sealed.parent / "x"
    outside.write_bytes(b"one two three")
    (sealed / "a.bin").unlink()
    (sealed / "a.bin").symlink_to(outside)
    assert manifests.damages(sealed) == ["a.bin points outside the folder"]
    with pytest.raises(InputError, match="points outside the folder"):
        manifests.read_manifest(sealed, "bags")


def test_a_folder_of_another_kind_or_version_is_refused(sealed):
    with pytest.raises(InputError, match=r"is not a run folder: its manifest\.json does not say so"):
        manifests.read_manifest(sealed, "run")
    rewrite_manifest(sealed, version=3)
    with pytest.raises(InputError, match="written by a newer bagwise; update bagwise"):
        manifests.read_manifest(sealed, "bags")


def test_what_is_no_folder_or_has_no_manifest_is_refused(tmp_path):
    with pytest.raises(InputError, match="is not a folder; check the path"):
        manifests.read_manifest(tmp_path / "nowhere", "bags")
    with pytest.raises(InputError, match=r"manifest\.json is missing"):
        manifests.read_manifest(tmp_path, "bags")


def test_what_is_read_must_be_listed_and_have_its_sha256(sealed):
    assert manifests.read_sealed(sealed, "bags", needed=["a.bin"])["count"] == 2
    with pytest.raises(InputError, match=r"c\.bin is not in manifest\.json"):
        manifests.read_sealed(sealed, "bags", needed=["a.bin", "c.bin"])
    (sealed / "a.bin").write_bytes(b"one two thret")
    with pytest.raises(InputError, match=r"a\.bin does not have the recorded SHA-256"):
        manifests.read_sealed(sealed, "bags", needed=[])
    assert manifests.read_sealed(sealed, "bags", needed=["a.bin"], by_size=["a.bin"])["count"] == 2


def test_a_change_of_the_manifest_itself_is_found(sealed):
    path = sealed / files.MANIFEST
    path.write_text(path.read_text().replace('"count": 2', '"count": 3'))
    assert manifests.damages(sealed) == ["manifest.json does not have its own recorded SHA-256: it changed"]
    with pytest.raises(InputError, match="its own recorded SHA-256"):
        manifests.read_manifest(sealed, "bags")


def test_a_manifest_of_before_there_were_seals_is_read(sealed):
    manifest = files.read_json(sealed / files.MANIFEST)
    del manifest[manifests.SEAL]
    files.write_json(sealed / files.MANIFEST, manifest)
    assert manifests.damages(sealed) == ["manifest.json does not have its own recorded SHA-256: it changed"]
    files.write_json(sealed / files.MANIFEST, {**manifest, "version": manifests.UNSEALED})
    assert manifests.damages(sealed) == []
    assert manifests.read_manifest(sealed, "bags")["count"] == 2


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "loop"])
def test_a_name_that_no_file_can_have_is_reported(sealed, name):
    (sealed / "loop").symlink_to("loop")
    rewrite_manifest(sealed, files={name: {"bytes": 6, "sha256": "0"}})
    with pytest.raises(InputError, match=r"cannot be read|is missing"):
        manifests.read_manifest(sealed, "bags")


@pytest.mark.parametrize("entries", [{"a.bin": {}}, {"a.bin": 13}, ["a.bin"], None, {}])
def test_a_manifest_with_mangled_entries_is_an_input_error(sealed, entries):
    rewrite_manifest(sealed, files=entries)
    with pytest.raises(InputError):
        manifests.read_manifest(sealed, "bags")
