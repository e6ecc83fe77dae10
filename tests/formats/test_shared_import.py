"""An import shared by many gives the bags, the report and the refusals of one process, byte for byte."""

import os

import pytest

from bagwise.claims import claimed
from bagwise.errors import InputError
from bagwise.files import sha256
from bagwise.formats import shared_import
from bagwise.formats.features import open_features
from bagwise.formats.importing import import_features
from bagwise.formats.labels import Label
from bagwise.formats.parts import part_units, parts_folder
from bagwise.formats.shared_import import import_shared
from formats.foreign import clam_slide, features, grid, slideflow_slide, stamp_slide, trident_slide
from local_cluster import local_cluster

NAMES = [f"s{number}" for number in range(6)]
LABELS = {name: Label(number % 2, f"p{number // 4}-{number % 2}") for number, name in enumerate(NAMES)}
SETTINGS = [{}, {"by_case": True}, {"skip_bad": True}, {"skip_bad": True, "by_case": True, "extractor": "uni_v1"}]


def folder_of(place, write=trident_slide):
    for number, name in enumerate(NAMES):
        folder = write(place / "tool", name, features(3 + number, seed=number), grid(3 + number) + 128)
    return folder


def found_in(place, write=trident_slide):
    return open_features(folder_of(place, write), mpp=0.5).features


def hashes(folder):
    return {path.name: sha256(path) for path in folder.iterdir()}


def with_faults(folder):
    """An empty slide, one that is cut, one with NaN, one of another width."""
    trident_slide(folder.parents[1], "s0", features(0), grid(0))
    (folder / "s2.h5").write_bytes(b"cut")
    trident_slide(folder.parents[1], "s3", features(4) * float("nan"), grid(4))
    trident_slide(folder.parents[1], "s5", features(4, width=9), grid(4))


@pytest.mark.parametrize("write", [clam_slide, trident_slide, stamp_slide, slideflow_slide])
def test_the_bags_and_the_report_are_those_of_one_process(tmp_path, write):
    found, heard = found_in(tmp_path, write), []
    alone = import_features(found, LABELS, tmp_path / "one")
    slides, report = import_shared(found, LABELS, tmp_path / "two", progress=lambda *told: heard.append(told))
    assert report == alone
    assert hashes(tmp_path / "two") == hashes(tmp_path / "one")
    assert (slides.done, heard) == (NAMES, [(done, 12) for done in range(1, 13)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "tool", "two"]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_any_number_of_processes_tells_the_same_of_bad_slides(tmp_path, settings):
    found = found_in(tmp_path)
    with_faults(found.folder)
    told = []
    for workers, run in ((None, import_features), (1, import_shared), (2, import_shared)):
        extra = {} if workers is None else {"workers": workers}
        try:
            result = run(found, LABELS, tmp_path / f"of {workers}", **extra, **settings)
            told.append((result if workers is None else result.report, hashes(tmp_path / f"of {workers}")))
        except InputError as refusal:
            told.append(str(refusal))
            assert not (tmp_path / f"of {workers}").exists()
    assert told[0] == told[1] == told[2]
    assert ("s2.h5 is damaged" in told[0]) == (not settings.get("skip_bad"))


def test_a_cluster_gives_the_same_bags_from_any_folder(tmp_path, monkeypatch):
    found = found_in(tmp_path)
    import_features(found, LABELS, tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    near = type(found)(found.folder.relative_to(tmp_path), found.mpp)
    (tmp_path / "elsewhere").mkdir()

    def stand(done, total):
        """While slides are read, stand in another folder, as workers on other machines do."""
        os.chdir(tmp_path / "elsewhere" if done < len(NAMES) else tmp_path)

    with local_cluster() as cluster:
        assert import_shared(near, LABELS, "two", workers=cluster, progress=stand).slides.done == NAMES
    assert hashes(tmp_path / "two") == hashes(tmp_path / "one")


def test_what_was_read_before_is_not_read_again_unless_its_files_changed(tmp_path, monkeypatch):
    found = found_in(tmp_path)

    def cut(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_shared(found, LABELS, tmp_path / "two", progress=cut)
    assert len(list(parts_folder(tmp_path / "two").iterdir())) == 4
    trident_slide(tmp_path / "tool", "s1", features(8, seed=9), grid(8))
    read, once = [], type(found).read
    monkeypatch.setattr(type(found), "read", lambda self, slide: read.append(slide) or once(self, slide))
    found_now = import_shared(found, LABELS, tmp_path / "two").slides
    assert read == ["s4", "s5", "s1"]
    assert (found_now.done, found_now.skipped) == (["s4", "s5"], ["s0", "s1", "s2", "s3"])
    import_features(found, LABELS, tmp_path / "one")
    assert hashes(tmp_path / "two") == hashes(tmp_path / "one")


def test_the_command_that_finds_all_read_packs_and_the_others_leave(tmp_path):
    found, out = found_in(tmp_path), tmp_path / "bags"
    (unit,) = part_units(found, ["s3"], out)
    with claimed(unit.claim):
        slides, report = import_shared(found, LABELS, out)
        assert (report, list(slides.elsewhere), len(slides.done)) == (None, ["s3"], 5)
    with claimed(tmp_path / ".bags.claim"):
        assert import_shared(found, LABELS, out).report is None
    assert not out.exists()
    slides, report = import_shared(found, LABELS, out)
    assert (report.bags, slides.done, len(slides.skipped)) == (6, [], 6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bags", "tool"]


def test_a_bad_slide_is_told_though_another_command_has_one_in_hand(tmp_path):
    found, out = found_in(tmp_path), tmp_path / "bags"
    (found.folder / "s2.h5").write_bytes(b"cut")
    (unit,) = part_units(found, ["s0"], out)
    with claimed(unit.claim):
        with pytest.raises(InputError, match=r"s2\.h5 is damaged"):
            import_shared(found, LABELS, out)
        assert list(import_shared(found, LABELS, out, skip_bad=True).slides.elsewhere) == ["s0"]


def test_a_command_that_is_overtaken_packs_nothing_and_leaves_no_parts(tmp_path, monkeypatch):
    """Another one packs while this one reads its last slide."""
    found, out = found_in(tmp_path), tmp_path / "bags"

    def overtaken(done, total):
        if done == 6 and not out.exists():
            import_features(found, LABELS, out)

    before = []
    monkeypatch.setattr(shared_import, "import_features", lambda *_, **__: before.append("packed twice"))
    assert import_shared(found, LABELS, out, progress=overtaken).report is None
    assert before == []
    assert not parts_folder(out).exists()


def test_bags_are_replaced_only_when_asked_for_and_mistakes_are_told_before_anything_is_read(tmp_path):
    found, out = found_in(tmp_path), tmp_path / "bags"
    import_features(found, dict([*LABELS.items()][:2]), out, skip_bad=True)
    with pytest.raises(InputError, match="holds bags already"):
        import_shared(found, LABELS, out)
    assert import_shared(found, LABELS, out, overwrite=True).report.bags == 6
    with pytest.raises(InputError, match="name different slides"):
        import_shared(found, {"s0": Label(1, None)}, tmp_path / "other")
    with pytest.raises(InputError, match="workers is 0"):
        import_shared(found, LABELS, tmp_path / "other", workers=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bags", "tool"]


def test_workers_that_do_not_see_a_folder_are_told_so(tmp_path, monkeypatch):
    """A folder that goes, after the slides are listed, stands for one that is on another machine."""
    found = found_in(tmp_path)
    seen = shared_import._absolute
    monkeypatch.setattr(shared_import, "_absolute", lambda features: type(features)(seen(features).folder / "away"))
    with local_cluster() as cluster, pytest.raises(InputError, match=r"away is not seen by a worker on .*all share"):
        import_shared(found, LABELS, tmp_path / "bags", workers=cluster, skip_bad=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tool"]
