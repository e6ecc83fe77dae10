"""Files are whole or not there."""

import errno
import hashlib
import shutil
from pathlib import Path

import pytest

from bagwise import files, manifests
from bagwise.errors import InputError


class InterruptionError(Exception):
    pass


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_atomic_makes_the_file_and_its_folders(tmp_path):
    with files.atomic(tmp_path / "new" / "folder" / "note.txt") as draft:
        draft.write_text("whole")
        assert names_in(tmp_path / "new" / "folder") == [draft.name]
    assert (tmp_path / "new" / "folder" / "note.txt").read_text() == "whole"
    assert names_in(tmp_path / "new" / "folder") == ["note.txt"]


@pytest.mark.parametrize("error", [InterruptionError, KeyboardInterrupt])
@pytest.mark.parametrize("written", [True, False])
def test_an_exception_inside_atomic_leaves_the_old_file_and_no_stump(tmp_path, error, written):
    target = tmp_path / "note.txt"
    target.write_text("old")

    def interrupted():
        with files.atomic(target) as draft:
            if written:
                draft.write_text("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["note.txt"]


def test_an_exception_inside_atomic_leaves_nothing_where_nothing_was(tmp_path):
    def interrupted():
        with files.atomic(tmp_path / "note.txt") as draft:
            draft.write_text("half")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupted()
    assert names_in(tmp_path) == []


def test_atomic_folder_replaces_the_old_folder_whole(tmp_path):
    target = tmp_path / "run"
    for content in ("first", "second"):
        with files.atomic_folder(target) as draft:
            (draft / "inner").mkdir()
            (draft / "inner" / f"{content}.txt").write_text(content)
    assert names_in(target / "inner") == ["second.txt"]
    assert names_in(tmp_path) == ["run"]


@pytest.mark.parametrize("stood", [True, False])
def test_an_exception_inside_atomic_folder_leaves_what_stood_there(tmp_path, stood):
    target = tmp_path / "run"
    if stood:
        target.mkdir()
        (target / "old.txt").write_text("old")

    def interrupted():
        with files.atomic_folder(target) as draft:
            (draft / "new.txt").write_text("half")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupted()
    assert names_in(tmp_path) == ["run"] * stood
    assert not stood or (target / "old.txt").read_text() == "old"


def test_a_folder_that_cannot_be_put_in_place_leaves_what_stood_there(tmp_path, monkeypatch):
    target = tmp_path / "run"
    target.mkdir()
    (target / "old.txt").write_text("old")
    rename = Path.replace

    def fails_for_the_new(path, place):
        if place == target and (path / "new.txt").exists():
            raise InterruptionError
        return rename(path, place)

    def write():
        with files.atomic_folder(target) as draft:
            (draft / "new.txt").write_text("new")
            monkeypatch.setattr(Path, "replace", fails_for_the_new)

    with pytest.raises(InterruptionError):
        write()
    assert (target / "old.txt").read_text() == "old"
    assert names_in(tmp_path) == ["run"]


def killed_between_the_renames(target, monkeypatch):
    """Replace a folder, and stop for good when the old one is set aside and the new one not yet in its place."""
    rename = Path.replace

    def dies(path, place):
        if place == target:
            raise InterruptionError
        return rename(path, place)

    with monkeypatch.context() as patched:
        patched.setattr(files, "recover", lambda path: None)  # a killed process mends nothing
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(InterruptionError), files.atomic_folder(target) as draft:  # noqa: PT012
            (draft / "new.txt").write_text("new")
            patched.setattr(Path, "replace", dies)
    assert not target.exists()


def test_a_kill_between_the_renames_loses_nothing_for_the_next_reader(sealed, monkeypatch):
    killed_between_the_renames(sealed, monkeypatch)
    assert manifests.read_manifest(sealed, "bags")["count"] == 2
    assert manifests.damages(sealed) == []


def test_a_kill_between_the_renames_loses_nothing_for_the_next_writer(sealed, monkeypatch):
    killed_between_the_renames(sealed, monkeypatch)

    def interrupted():
        with files.atomic_folder(sealed, "bags"):
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupted()
    assert manifests.damages(sealed) == []
    assert not list(sealed.parent.glob(f"{files.ASIDE}*"))


def test_only_the_folder_of_that_name_is_put_back_and_only_where_nothing_stands(sealed, monkeypatch):
    killed_between_the_renames(sealed, monkeypatch)
    with pytest.raises(InputError, match="is not a folder"):
        manifests.read_manifest(sealed.parent / "seal", "bags")
    sealed.mkdir()
    files.recover(sealed)
    assert names_in(sealed) == []


def test_of_two_kills_the_last_is_mended(tmp_path, monkeypatch):
    target = tmp_path / "run"
    for content in ("first", "second"):
        target.mkdir()
        (target / f"{content}.txt").write_text(content)
        killed_between_the_renames(target, monkeypatch)
    files.recover(target)
    assert names_in(target) == ["second.txt"]


def test_a_replaced_folder_never_comes_back(tmp_path):
    target = tmp_path / "run"
    for content in ("first", "second"):
        with files.atomic_folder(target) as draft:
            (draft / content).write_text(content)
    shutil.rmtree(target)
    files.recover(target)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("place", ["", ".", "..", "inner/.."])
def test_the_folder_one_stands_in_is_never_replaced(tmp_path, monkeypatch, place):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is the folder you stand in, or holds it.*; give a new path"):
        files.atomic_folder(Path(place)).__enter__()
    assert names_in(tmp_path) == ["inner"]


def test_a_folder_is_no_place_for_a_file(tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path} is a folder; give a file's path$"):
        files.write_json(tmp_path, {})
    with pytest.raises(InputError, match="is not a file; check the path"):
        files.read_json(tmp_path)


@pytest.mark.parametrize("write", [files.atomic, files.atomic_folder])
@pytest.mark.parametrize("place", ["note.txt/inner", "note.txt/inner/deep"])
def test_a_file_is_no_place_for_a_folder(tmp_path, write, place):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match=r"cannot be written: .* is, or lies in, a file; give another path"):
        write(tmp_path / place).__enter__()
    assert (tmp_path / "note.txt").read_text() == "mine"


def test_json_comes_back_as_it_was(tmp_path):
    content = {"words": "σ – ×", "numbers": [1, 2.5, -1e-300], "nothing": None, "nested": {"yes": True}}
    files.write_json(tmp_path / "a.json", content)
    assert files.read_json(tmp_path / "a.json") == content


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_refuses_what_is_no_number_and_keeps_the_old_file(tmp_path, value):
    files.write_json(tmp_path / "a.json", {"loss": 1.0})
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "a.json", {"loss": value})
    assert files.read_json(tmp_path / "a.json") == {"loss": 1.0}
    assert names_in(tmp_path) == ["a.json"]


def test_a_missing_json_file_is_named_with_its_folder(tmp_path):
    with pytest.raises(InputError, match=r"a\.json is missing; is .* the right folder\?"):
        files.read_json(tmp_path / "a.json")


@pytest.mark.parametrize("content", [b"{", b"", b'{"a": }', b"\xff\xfe"])
def test_a_damaged_json_file_is_named(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json is damaged .*; restore it from a copy or make it again"):
        files.read_json(tmp_path / "a.json")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 1000])
def test_sha256_read_in_pieces_is_that_of_the_whole(tmp_path, monkeypatch, size):
    monkeypatch.setattr(files, "CHUNK", 8)
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "a").write_bytes(content)
    assert files.sha256(tmp_path / "a") == hashlib.sha256(content).hexdigest()


def test_a_file_reaches_the_disk_before_it_takes_its_name(tmp_path, monkeypatch):
    events = []
    monkeypatch.setattr("os.fsync", lambda handle: events.append("flushed"))
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: (events.append("renamed"), replace(self, target))[1])
    with files.atomic(tmp_path / "note.txt") as draft:
        draft.write_text("whole")
    assert events == ["flushed", "renamed", "flushed"]


def test_folders_made_for_what_failed_go_again_unless_something_else_is_in_them(tmp_path):
    def write(path):
        with files.atomic(path):
            (tmp_path / "new" / "mine.txt").write_text("mine")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        write(tmp_path / "new" / "deep" / "note.txt")
    assert names_in(tmp_path / "new") == ["mine.txt"]


def test_a_place_is_tried_and_left_as_it_was(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "new" / "deep" / "note.txt", tmp_path / "note.txt"):
        files.check_writable(path)
    assert names_in(tmp_path) == ["file"]
    with pytest.raises(InputError, match="is, or lies in, a file"):
        files.check_writable(tmp_path / "file" / "note.txt")


def test_what_cannot_fit_is_refused_and_what_can_is_not(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    files.check_room(tmp_path / "new" / "deep", free // 2)
    with pytest.raises(InputError, match=r"deep will take [\d,]+ bytes, and its disk has [\d,]+ left; make room"):
        files.check_room(tmp_path / "new" / "deep", 2 * free)


@pytest.mark.parametrize(
    ("raised", "named"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "target"),
        (OSError(errno.EACCES, "Permission denied", "there/.draft-1"), "target"),
        (OSError(errno.EACCES, "Permission denied", "elsewhere"), "elsewhere"),
        (OSError(errno.EIO, "Input/output error"), None),
    ],
    ids=str,
)
def test_an_error_of_the_system_names_the_path_that_was_asked_for(raised, named):
    draft = Path("there/.draft-1")
    with pytest.raises(type(raised), match=raised.strerror) as found, files.naming(Path("target"), draft):
        raise raised
    assert found.value.filename == named
