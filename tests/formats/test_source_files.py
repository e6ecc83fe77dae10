"""The files that decide a slide are those, and only those, that its reader opens."""

from pathlib import Path

import pytest

from bagwise.formats import clam, slideflow, stamp, trident
from bagwise.formats.features import open_features
from bagwise.formats.source_files import source_files, source_hashes
from formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide

OPENERS = {
    clam: ("open_h5", "read_tensor"),
    trident: ("open_h5",),
    stamp: ("open_h5",),
    slideflow: ("read_tensor", "read_npz", "read_json"),
}


def clam_tensor(folder, slide, rows, positions):
    return clam_slide(folder, slide, rows, positions, as_tensor=True)


def both_of_clam(folder, slide, rows, positions):
    clam_tensor(folder, slide, rows, positions)
    return clam_slide(folder, slide, rows, positions, patches=False)


WRITERS = [clam_slide, clam_tensor, both_of_clam, trident_slide, stamp_slide, slideflow_slide]


@pytest.fixture(params=WRITERS, ids=lambda write: write.__name__)
def found(request, tmp_path):
    for slide in ("s1", "s2"):
        folder = request.param(tmp_path / "tool", slide, features(), grid() + 128)
    return open_features(folder, mpp=0.5).features


def test_they_are_what_the_reader_opens(found, monkeypatch):
    opened = set()

    def recorded(function):
        def call(path, *arguments):
            opened.add(path)
            return function(path, *arguments)

        return call

    for module, names in OPENERS.items():
        for name in names:
            monkeypatch.setattr(module, name, recorded(getattr(module, name)))
    found.read("s1")
    assert {path for path in source_files(found, "s1") if path is not None} == opened


def test_a_byte_in_any_of_them_changes_the_hashes_of_this_slide_alone(found):
    before, other = source_hashes(found, "s1"), source_hashes(found, "s2")
    assert before == source_hashes(found, "s1")
    for path in [path for path in source_files(found, "s1") if path is not None]:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert source_hashes(found, "s1") != before
        assert (source_hashes(found, "s2") == other) == (path not in source_files(found, "s2"))
        path.write_bytes(content)
    assert source_hashes(found, "s1") == before


def test_a_file_that_goes_is_missed(found):
    before = source_hashes(found, "s1")
    source_files(found, "s1")[0].unlink()
    assert source_hashes(found, "s1") != before


def test_a_folder_that_is_given_by_half_a_path_has_the_same_files(tmp_path, monkeypatch):
    """CLAM's positions lie beside the folder, whose name alone does not say where that is."""
    folder = clam_slide(tmp_path / "tool", "s1", features(), grid() + 128)
    whole = source_files(open_features(folder, mpp=0.5).features, "s1")
    monkeypatch.chdir(folder)
    assert source_files(open_features(Path(), mpp=0.5).features, "s1")[0] == whole[0]
