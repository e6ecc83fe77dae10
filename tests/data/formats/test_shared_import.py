import os

import numpy as np
import pytest

from bagwise.data.formats import feature_folders, shared_import
from bagwise.data.formats.clam import Clam
from bagwise.data.formats.detection import open_feature_folder
from bagwise.data.formats.feature_folders import SlideFeatures
from bagwise.data.formats.feature_import import import_features
from bagwise.data.formats.shared_import import (
    get_parts_folder,
    import_shared,
    is_part_current,
    list_part_units,
    read_part,
    remove_parts,
    write_part,
)
from bagwise.data.formats.slide_labels import SlideLabel
from bagwise.errors import InputError
from bagwise.io.locking import hold_lock
from bagwise.io.manifest import hash_file
from bagwise.parallel.shared_folder import process_units
from data.formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide
from local_cluster import local_cluster

NAMES = [f"s{number}" for number in range(6)]
LABELS = {name: SlideLabel(number % 2, f"p{number // 4}-{number % 2}") for number, name in enumerate(NAMES)}
SETTINGS = [{}, {"by_case": True}, {"skip_bad": True}, {"skip_bad": True, "by_case": True, "extractor": "uni_v1"}]


def write_slides(parent, write=trident_slide):
    for number, name in enumerate(NAMES):
        folder = write(parent / "tool", name, features(3 + number, seed=number), grid(3 + number) + 128)
    return open_feature_folder(folder, mpp=0.5).features


def add_bad_slides(folder):
    """Replace slides by an empty one, a truncated one, one with NaN and one with another number of features."""
    trident_slide(folder.parents[1], "s0", features(0), grid(0))
    (folder / "s2.h5").write_bytes(b"cut")
    trident_slide(folder.parents[1], "s3", features(4) * float("nan"), grid(4))
    trident_slide(folder.parents[1], "s5", features(4, width=9), grid(4))


def hash_folder(folder):
    return {path.name: hash_file(path) for path in folder.iterdir()}


@pytest.mark.parametrize("write", [clam_slide, trident_slide, stamp_slide, slideflow_slide])
def test_import_shared_gives_the_bags_and_the_report_of_one_process(tmp_path, write):
    found, calls = write_slides(tmp_path, write), []
    expected = import_features(found, LABELS, tmp_path / "one")
    slides, report = import_shared(found, LABELS, tmp_path / "two", progress=lambda *call: calls.append(call))
    assert report == expected
    assert hash_folder(tmp_path / "two") == hash_folder(tmp_path / "one")
    assert (slides.done, calls) == (NAMES, [(done, 12) for done in range(1, 13)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "tool", "two"]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_import_shared_reports_bad_slides_as_one_process_does(tmp_path, settings):
    found = write_slides(tmp_path)
    add_bad_slides(found.folder)
    outcomes = []
    for workers, run in ((None, import_features), (1, import_shared), (2, import_shared)):
        out, extra = tmp_path / f"of {workers}", {} if workers is None else {"workers": workers}
        try:
            result = run(found, LABELS, out, **extra, **settings)
            outcomes.append((result if workers is None else result.report, hash_folder(out)))
        except InputError as error:
            outcomes.append(str(error))
            assert not out.exists()
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert ("s2.h5 is damaged" in outcomes[0]) == (not settings.get("skip_bad"))


def test_import_shared_on_a_cluster_gives_the_same_bags_from_any_working_directory(tmp_path, monkeypatch):
    found = write_slides(tmp_path)
    import_features(found, LABELS, tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    relative = type(found)(found.folder.relative_to(tmp_path), found.mpp)
    (tmp_path / "elsewhere").mkdir()

    def change_directory(done, total):
        """Use another working directory while slides are read, like workers on other machines."""
        os.chdir(tmp_path / "elsewhere" if done < len(NAMES) else tmp_path)

    with local_cluster() as cluster:
        assert import_shared(relative, LABELS, "two", workers=cluster, progress=change_directory).slides.done == NAMES
    assert hash_folder(tmp_path / "two") == hash_folder(tmp_path / "one")


def test_import_shared_resumes_and_reads_again_only_slides_whose_files_changed(tmp_path, monkeypatch):
    found = write_slides(tmp_path)

    def interrupt(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_shared(found, LABELS, tmp_path / "two", progress=interrupt)
    assert len(list(get_parts_folder(tmp_path / "two").iterdir())) == 4
    trident_slide(tmp_path / "tool", "s1", features(8, seed=9), grid(8))
    read_names, read = [], type(found).read
    monkeypatch.setattr(type(found), "read", lambda self, slide: read_names.append(slide) or read(self, slide))
    slides = import_shared(found, LABELS, tmp_path / "two").slides
    assert read_names == ["s4", "s5", "s1"]
    assert (slides.done, slides.skipped) == (["s4", "s5"], ["s0", "s1", "s2", "s3"])
    import_features(found, LABELS, tmp_path / "one")
    assert hash_folder(tmp_path / "two") == hash_folder(tmp_path / "one")


def test_import_shared_packs_only_once_all_slides_are_read(tmp_path):
    found, out = write_slides(tmp_path), tmp_path / "bags"
    (unit,) = list_part_units(found, ["s3"], out)
    with hold_lock(unit.lock):
        slides, report = import_shared(found, LABELS, out)
        assert (report, list(slides.elsewhere), len(slides.done)) == (None, ["s3"], 5)
    with hold_lock(tmp_path / ".bags.lock"):
        assert import_shared(found, LABELS, out).report is None
    assert not out.exists()
    slides, report = import_shared(found, LABELS, out)
    assert (report.bags, slides.done, len(slides.skipped)) == (6, [], 6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bags", "tool"]


def test_import_shared_reports_a_bad_slide_while_another_process_reads(tmp_path):
    found, out = write_slides(tmp_path), tmp_path / "bags"
    (found.folder / "s2.h5").write_bytes(b"cut")
    (unit,) = list_part_units(found, ["s0"], out)
    with hold_lock(unit.lock):
        with pytest.raises(InputError, match=r"s2\.h5 is damaged"):
            import_shared(found, LABELS, out)
        assert list(import_shared(found, LABELS, out, skip_bad=True).slides.elsewhere) == ["s0"]


def test_import_shared_packs_nothing_if_another_command_packed_meanwhile(tmp_path, monkeypatch):
    found, out = write_slides(tmp_path), tmp_path / "bags"

    def pack_elsewhere(done, total):
        if done == 6 and not out.exists():
            import_features(found, LABELS, out)

    packed = []
    monkeypatch.setattr(shared_import, "import_features", lambda *_, **__: packed.append("again"))
    assert import_shared(found, LABELS, out, progress=pack_elsewhere).report is None
    assert packed == []
    assert not get_parts_folder(out).exists()


def test_import_shared_checks_its_arguments_before_reading(tmp_path):
    found, out = write_slides(tmp_path), tmp_path / "bags"
    import_features(found, dict([*LABELS.items()][:2]), out, skip_bad=True)
    with pytest.raises(InputError, match="bags already contains bags"):
        import_shared(found, LABELS, out)
    assert import_shared(found, LABELS, out, overwrite=True).report.bags == 6
    with pytest.raises(InputError, match=r"the slides in .* and in the labels differ"):
        import_shared(found, {"s0": SlideLabel(1, None)}, tmp_path / "other")
    with pytest.raises(InputError, match="workers is 0"):
        import_shared(found, LABELS, tmp_path / "other", workers=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bags", "tool"]


def test_import_shared_reports_a_folder_that_workers_cannot_access(tmp_path, monkeypatch):
    """A folder that does not exist simulates a folder on another machine."""
    found = write_slides(tmp_path)
    make_absolute = shared_import._make_absolute

    def move_away(features):
        return type(features)(make_absolute(features).folder / "away")

    monkeypatch.setattr(shared_import, "_make_absolute", move_away)
    with local_cluster() as cluster, pytest.raises(InputError, match=r"away is not .* worker on"):
        import_shared(found, LABELS, tmp_path / "bags", workers=cluster, skip_bad=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tool"]


@pytest.fixture
def written_part(tmp_path):
    """Return a TRIDENT folder with one slide, and the unit of the slide after its part was written."""
    found = open_feature_folder(trident_slide(tmp_path / "tool", "s1", features(), grid())).features
    (unit,) = list_part_units(found, ["s1"], tmp_path / "bags")
    process_units([unit], lambda unit, stream: write_part(found, unit, stream))
    return found, unit


def test_list_part_units_depends_on_everything_that_affects_reading(tmp_path):
    def target(**changes):
        return list_part_units(Clam(**{"folder": tmp_path / "a", **changes}), ["s1"], tmp_path / "bags")[0].target

    assert target() == target(patches=tmp_path), "the patch files are hashed instead"
    assert len({target(), target(mpp=0.5), target(mpp=0.25), target(folder=tmp_path / "b")}) == 4


@pytest.mark.parametrize(
    "slide",
    [
        SlideFeatures(features().astype(">f4"), grid().astype(np.int32), 512.1, "uni/ü", "a note"),
        SlideFeatures(features().astype(np.float16)),
        SlideFeatures(np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(3, 2)), grid(3) / 3),
        SlideFeatures(np.empty((0, 7), dtype=np.float64), None, None, "uni"),
    ],
)
def test_read_part_returns_the_slide_of_write_part_bit_by_bit(tmp_path, monkeypatch, slide):
    found = Clam(tmp_path)
    monkeypatch.setattr(found, "read", lambda name: slide)
    (unit,) = list_part_units(found, ["s1"], tmp_path / "bags")
    unit.target.parent.mkdir()
    with unit.target.open("wb") as stream:
        write_part(found, unit, stream)
    read = read_part(unit.target)
    assert (read.tile_size, read.extractor, read.note) == (slide.tile_size, slide.extractor, slide.note)
    for actual, expected in ((read.features, slide.features), (read.positions, slide.positions)):
        assert (actual is None) == (expected is None)
        if actual is not None:
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, expected)


def test_read_part_returns_none_for_a_damaged_part(written_part):
    found, unit = written_part
    content = unit.target.read_bytes()
    assert read_part(unit.target) is not None
    offset = content.index(features().tobytes()) + 5
    flipped = content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :]
    for damaged in (content[:-30], flipped, b"", b"{}"):
        unit.target.write_bytes(damaged)
        assert read_part(unit.target) is None
    unit.target.unlink()
    assert read_part(unit.target) is None
    assert is_part_current(found, unit) == ("s1", False)


def test_write_part_attributes_an_unreadable_file_to_its_slide(written_part, monkeypatch):
    found, unit = written_part

    def deny(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(feature_folders, "hash_file", deny)  # file permissions would not stop a superuser
    with unit.target.open("wb") as stream, pytest.raises(InputError, match=r"s1\.h5: Permission denied"):
        write_part(found, unit, stream)


def test_is_part_current_compares_contents_and_not_times(written_part):
    found, unit = written_part
    path = found.folder / "s1.h5"
    os.utime(path, (1, 1))
    assert is_part_current(found, unit) == ("s1", True)
    status = path.stat()
    trident_slide(found.folder.parents[1], "s1", features(seed=9), grid())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert is_part_current(found, unit) == ("s1", False)
    path.unlink()
    assert is_part_current(found, unit) == ("s1", False)


def test_remove_parts_leaves_other_files(written_part, tmp_path):
    folder = get_parts_folder(tmp_path / "bags")
    (folder / "notes.txt").touch()
    (folder / ".s0.0123.tmp").touch()
    remove_parts(tmp_path / "bags")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    remove_parts(tmp_path / "bags")
    assert not folder.exists()
    remove_parts(tmp_path / "bags")
