"""A part gives the slide back to the bit, as long as its files are what they were."""

import os

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats import source_files
from bagwise.formats.clam import Clam
from bagwise.formats.contract import Slide
from bagwise.formats.features import open_features
from bagwise.formats.parts import holds, part_units, parts_folder, read_part, remove_parts, write_part
from bagwise.working.units import share
from formats.foreign import features, grid, trident_slide


@pytest.fixture
def written(tmp_path):
    """TRIDENT's folder of one slide, and its unit with the part written."""
    found = open_features(trident_slide(tmp_path / "tool", "s1", features(), grid())).features
    (unit,) = part_units(found, ["s1"], tmp_path / "bags")
    share([unit], lambda unit, stream: write_part(found, unit, stream))
    return found, unit


@pytest.mark.parametrize(
    "slide",
    [
        Slide(features().astype(">f4"), grid().astype(np.int32), 512.1, "uni/ü", "a note"),
        Slide(features().astype(np.float16)),
        Slide(np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(3, 2)), grid(3) / 3),
        Slide(np.empty((0, 7), dtype=np.float64), None, None, "uni"),
    ],
)
def test_a_slide_comes_back_to_the_bit(tmp_path, monkeypatch, slide):
    found = Clam(tmp_path)
    monkeypatch.setattr(found, "read", lambda name: slide)
    (unit,) = part_units(found, ["s1"], tmp_path / "bags")
    unit.target.parent.mkdir()
    with unit.target.open("wb") as stream:
        write_part(found, unit, stream)
    back = read_part(unit.target)
    assert back[2:] == slide[2:]
    for here, there in zip(back[:2], slide[:2], strict=True):
        assert (here is None) == (there is None)
        if here is not None:
            assert here.dtype == there.dtype
            np.testing.assert_array_equal(here, there)


def test_a_part_holds_until_a_byte_of_its_files_changes_whatever_their_times(written):
    found, unit = written
    path = found.folder / "s1.h5"
    os.utime(path, (1, 1))
    assert holds(found, unit) == ("s1", True)
    stamp = path.stat()
    trident_slide(found.folder.parents[1], "s1", features(seed=9), grid())
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert holds(found, unit) == ("s1", False)
    path.unlink()
    assert holds(found, unit) == ("s1", False)


def test_what_decides_the_reading_decides_the_part(tmp_path):
    def target(**changes):
        return part_units(Clam(**{"folder": tmp_path / "a", **changes}), ["s1"], tmp_path / "bags")[0].target

    assert target() == target(patches=tmp_path)  # its files are hashed
    assert len({target(), target(mpp=0.5), target(mpp=0.25), target(folder=tmp_path / "b")}) == 4


def test_a_damaged_part_is_none(written):
    found, unit = written
    content = unit.target.read_bytes()
    assert read_part(unit.target) is not None
    place = content.index(features().tobytes()) + 5
    for damaged in (content[:-30], content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :], b"", b"{}"):
        unit.target.write_bytes(damaged)
        assert read_part(unit.target) is None
    unit.target.unlink()
    assert read_part(unit.target) is None
    assert holds(found, unit) == ("s1", False)


def test_a_file_that_may_not_be_read_is_a_fault_of_its_slide(written, monkeypatch):
    found, unit = written

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(source_files, "sha256", refuse)  # a superuser may read anything
    with unit.target.open("wb") as stream, pytest.raises(InputError, match=r"s1\.h5: Permission denied"):
        write_part(found, unit, stream)


def test_only_parts_are_removed(written, tmp_path):
    folder = parts_folder(tmp_path / "bags")
    (folder / "notes.txt").touch()
    (folder / ".s0.0123.draft").touch()
    remove_parts(tmp_path / "bags")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    remove_parts(tmp_path / "bags")
    assert not folder.exists()
    remove_parts(tmp_path / "bags")
