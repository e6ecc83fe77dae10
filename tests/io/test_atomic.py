"""Atomic writing: files and folders are complete or absent, and temporary folders of killed processes are removed."""

import errno
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.io import atomic
from bagwise.io.atomic import (
    REPLACED_PREFIX,
    TEMPORARY_PREFIX,
    get_temporary_prefix,
    is_unused_folder,
    make_temporary_path,
    name_path_in_errors,
    recover_folder,
    remove_temporary_files,
    write_atomically,
    write_folder_atomically,
)
from bagwise.io.locking import LOCK_FILE
from bagwise.io.manifest import find_damage, read_manifest

WRITE_AND_DIE = """
import os, sys, signal
from pathlib import Path
from bagwise.io.atomic import write_folder_atomically

with write_folder_atomically(Path(sys.argv[1])) as temporary:
    (temporary / "big").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


class InterruptionError(Exception):
    pass


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def write_folder(target, name="new"):
    with write_folder_atomically(target) as temporary:
        (temporary / name).touch()


def kill_while_writing(target):
    """Kill a process while it writes a folder, and return its temporary folder."""
    assert subprocess.run([sys.executable, "-c", WRITE_AND_DIE, target], check=False).returncode == -signal.SIGKILL
    (temporary,) = target.parent.glob(f"{get_temporary_prefix(target)}*")
    assert (temporary / "big").exists()
    return temporary


def stop_between_renames(target, monkeypatch):
    """Replace a folder, but stop after the old one was moved aside and before the new one is at its path."""
    rename = Path.replace

    def stop(path, destination):
        if destination == target:
            raise InterruptionError
        return rename(path, destination)

    with monkeypatch.context() as patched:
        patched.setattr(atomic, "exchange_folders", lambda *_: False)
        patched.setattr(atomic, "_restore_folder", lambda path: None)  # a killed process recovers nothing
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(InterruptionError), write_folder_atomically(target) as temporary:  # noqa: PT012
            (temporary / "new.txt").write_text("new")
            patched.setattr(Path, "replace", stop)
    assert not target.exists()


def test_is_unused_folder_ignores_temporary_files_and_locks(tmp_path):
    assert is_unused_folder(tmp_path / "nowhere")
    (tmp_path / LOCK_FILE).touch()
    (tmp_path / f"{TEMPORARY_PREFIX}1").mkdir()
    assert is_unused_folder(tmp_path)
    (tmp_path / ".hidden").touch()
    assert not is_unused_folder(tmp_path)
    assert not is_unused_folder(tmp_path / ".hidden")


def test_remove_temporary_files_removes_nothing_else(tmp_path):
    (tmp_path / "units" / f"{TEMPORARY_PREFIX}1").mkdir(parents=True)
    (tmp_path / "units" / f"{TEMPORARY_PREFIX}1" / "file").touch()
    (tmp_path / f"{TEMPORARY_PREFIX}2").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / f"{TEMPORARY_PREFIX}3").symlink_to(tmp_path / "outside")
    (tmp_path / "units" / "complete").touch()
    remove_temporary_files(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["complete", "outside", "units"]
    remove_temporary_files(tmp_path / "nowhere")


def test_write_atomically_creates_the_file_and_its_folders(tmp_path):
    with write_atomically(tmp_path / "new" / "folder" / "note.txt") as temporary:
        temporary.write_text("complete")
        assert names_in(tmp_path / "new" / "folder") == [temporary.name]
    assert (tmp_path / "new" / "folder" / "note.txt").read_text() == "complete"
    assert names_in(tmp_path / "new" / "folder") == ["note.txt"]


@pytest.mark.parametrize("error", [InterruptionError, KeyboardInterrupt])
@pytest.mark.parametrize("written", [True, False])
def test_write_atomically_keeps_the_old_file_after_an_exception(tmp_path, error, written):
    target = tmp_path / "note.txt"
    target.write_text("old")

    def interrupt():
        with write_atomically(target) as temporary:
            if written:
                temporary.write_text("half")
            raise error

    with pytest.raises(error):
        interrupt()
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["note.txt"]


def test_write_atomically_leaves_nothing_after_an_exception_if_there_was_no_file(tmp_path):
    def interrupt():
        with write_atomically(tmp_path / "note.txt") as temporary:
            temporary.write_text("half")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupt()
    assert names_in(tmp_path) == []


def test_write_atomically_flushes_the_file_before_renaming_it(tmp_path, monkeypatch):
    events = []
    monkeypatch.setattr("os.fsync", lambda handle: events.append("flush"))
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: (events.append("rename"), replace(self, target))[1])
    with write_atomically(tmp_path / "note.txt") as temporary:
        temporary.write_text("complete")
    assert events == ["flush", "rename", "flush"]


def test_write_atomically_removes_the_folders_it_created_after_an_exception_if_they_are_empty(tmp_path):
    def interrupt(path):
        with write_atomically(path):
            (tmp_path / "new" / "other.txt").write_text("other")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupt(tmp_path / "new" / "deep" / "note.txt")
    assert names_in(tmp_path / "new") == ["other.txt"]


def test_write_atomically_rejects_a_folder(tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path} is a folder; give a file's path$"):
        write_atomically(tmp_path).__enter__()


@pytest.mark.parametrize("write", [write_atomically, write_folder_atomically])
@pytest.mark.parametrize("path", ["note.txt/inner", "note.txt/inner/deep"])
def test_writing_below_a_file_is_rejected(tmp_path, write, path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match=r"cannot be written: .* is a file or below a file; give another path"):
        write(tmp_path / path).__enter__()
    assert (tmp_path / "note.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("error", "filename"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "target"),
        (OSError(errno.EACCES, "Permission denied", "folder/.tmp-1"), "target"),
        (OSError(errno.EACCES, "Permission denied", "elsewhere"), "elsewhere"),
        (OSError(errno.EIO, "Input/output error"), None),
    ],
    ids=str,
)
def test_name_path_in_errors_replaces_the_temporary_path_and_names_the_path_on_a_full_disk(error, filename):
    with (
        pytest.raises(type(error), match=error.strerror) as raised,
        name_path_in_errors(Path("target"), Path("folder/.tmp-1")),
    ):
        raise error
    assert raised.value.filename == filename


def test_write_folder_atomically_replaces_the_whole_folder(tmp_path):
    target = tmp_path / "run"
    for content in ("first", "second"):
        with write_folder_atomically(target) as temporary:
            (temporary / "inner").mkdir()
            (temporary / "inner" / f"{content}.txt").write_text(content)
    assert names_in(target / "inner") == ["second.txt"]
    assert names_in(tmp_path) == ["run"]


@pytest.mark.parametrize("existed", [True, False])
def test_write_folder_atomically_changes_nothing_after_an_exception(tmp_path, existed):
    target = tmp_path / "run"
    if existed:
        target.mkdir()
        (target / "old.txt").write_text("old")

    def interrupt():
        with write_folder_atomically(target) as temporary:
            (temporary / "new.txt").write_text("half")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupt()
    assert names_in(tmp_path) == ["run"] * existed
    assert not existed or (target / "old.txt").read_text() == "old"


def test_write_folder_atomically_restores_the_old_folder_if_the_rename_fails(tmp_path, monkeypatch):
    target = tmp_path / "run"
    target.mkdir()
    (target / "old.txt").write_text("old")
    rename = Path.replace
    monkeypatch.setattr(atomic, "exchange_folders", lambda *_: False)

    def fail_for_the_new_folder(path, destination):
        if destination == target and (path / "new.txt").exists():
            raise InterruptionError
        return rename(path, destination)

    def write():
        with write_folder_atomically(target) as temporary:
            (temporary / "new.txt").write_text("new")
            monkeypatch.setattr(Path, "replace", fail_for_the_new_folder)

    with pytest.raises(InterruptionError):
        write()
    assert (target / "old.txt").read_text() == "old"
    assert names_in(tmp_path) == ["run"]


@pytest.mark.parametrize("folder", ["", ".", "..", "inner/.."])
def test_write_folder_atomically_rejects_the_current_working_directory(tmp_path, monkeypatch, folder):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is or contains the current working directory .*; give another path"):
        write_folder_atomically(Path(folder)).__enter__()
    assert names_in(tmp_path) == ["inner"]


def test_write_folder_atomically_works_where_folders_cannot_be_opened(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_DIRECTORY")
    write_folder(tmp_path / "bags")
    assert names_in(tmp_path) == ["bags"]


def interrupt_at_line(step, action):
    """Raise KeyboardInterrupt at the given executed line of atomic.py; return whether the action reached it."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename != atomic.__file__:
            return None
        lines += event == "line"
        if event == "line" and lines == step:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("existed", [False, True])
def test_write_folder_atomically_leaves_the_old_or_the_new_folder_after_ctrl_c_at_any_line(
    tmp_path, existed, can_exchange, monkeypatch
):
    if not can_exchange:
        monkeypatch.setattr(atomic, "exchange_folders", lambda *_: False)
    for step in itertools.count(1):
        target = tmp_path / str(step) / "bags"
        target.parent.mkdir()
        if existed:
            target.mkdir()
            (target / "old").touch()
        interrupted = interrupt_at_line(step, lambda: write_folder(target))  # noqa: B023 (called at once)
        recover_folder(target)
        found = sorted(path.relative_to(target.parent).as_posix() for path in target.parent.rglob("*"))
        assert found in (["bags", "bags/old"] if existed else [], ["bags", "bags/new"]), step
        if not interrupted:
            break
    assert step > 30


def test_remove_abandoned_folders_removes_those_of_a_killed_process_for_the_same_path(tmp_path):
    abandoned = kill_while_writing(tmp_path / "bags")
    write_folder(tmp_path / "others")
    assert abandoned.exists()
    write_folder(tmp_path / "bags")
    assert names_in(tmp_path) == ["bags", "others"]


def test_remove_abandoned_folders_keeps_the_folder_of_a_running_process(tmp_path):
    with write_folder_atomically(tmp_path / "bags") as temporary:
        (temporary / "first").touch()
        atomic.remove_abandoned_folders(tmp_path / "bags")
        assert (temporary / "first").exists()
    assert names_in(tmp_path / "bags") == ["first"]
    assert names_in(tmp_path) == ["bags"]


def test_write_folder_atomically_rejects_a_second_writer_by_name(tmp_path):
    with write_folder_atomically(tmp_path / "bags") as temporary:
        (temporary / "first").touch()
        with pytest.raises(InputError, match=rf"bags is being written by process {os.getpid()} on .*; wait until"):
            write_folder(tmp_path / "bags", "second")
        write_folder(tmp_path / "others")
    assert names_in(tmp_path / "bags") == ["first"]
    write_folder(tmp_path / "bags", "second")
    assert names_in(tmp_path / "bags") == ["second"]
    assert names_in(tmp_path) == ["bags", "others"]


def test_remove_abandoned_folders_keeps_those_of_other_machines(tmp_path, monkeypatch):
    abandoned = kill_while_writing(tmp_path / "bags")
    host = socket.gethostname()
    monkeypatch.setattr("socket.gethostname", lambda: f"not-{host}")
    with pytest.raises(InputError, match=f"is being written by process .* on {host}; .* delete") as refused:
        write_folder(tmp_path / "bags")
    Path(str(refused.value).rpartition("delete ")[2].rstrip(")")).unlink()
    write_folder(tmp_path / "bags")
    assert abandoned.exists()


@pytest.mark.parametrize("locked", [None, False])
def test_remove_abandoned_folders_keeps_all_without_locks(tmp_path, monkeypatch, locked):
    abandoned = kill_while_writing(tmp_path / "bags")
    monkeypatch.setattr(atomic, "try_lock", lambda handle: locked)
    write_folder(tmp_path / "bags")
    assert abandoned.exists()


def test_remove_abandoned_folders_keeps_files_and_links(tmp_path):
    (tmp_path / "mine").mkdir()
    prefix = get_temporary_prefix(tmp_path / "bags")
    link, file = (make_temporary_path(tmp_path / "bags", prefix) for _ in range(2))
    link.symlink_to(tmp_path / "mine")
    file.touch()
    write_folder(tmp_path / "bags")
    assert link.is_symlink()
    assert file.exists()
    assert (tmp_path / "mine").is_dir()


def test_recover_folder_restores_the_old_folder_for_the_next_reader(sealed, monkeypatch):
    stop_between_renames(sealed, monkeypatch)
    assert read_manifest(sealed, "bags")["count"] == 2
    assert find_damage(sealed) == []


def test_recover_folder_restores_the_old_folder_for_the_next_writer(sealed, monkeypatch):
    stop_between_renames(sealed, monkeypatch)

    def interrupt():
        with write_folder_atomically(sealed, "bags"):
            raise InterruptionError

    with pytest.raises(InterruptionError):
        interrupt()
    assert find_damage(sealed) == []
    assert not list(sealed.parent.glob(f"{REPLACED_PREFIX}*"))


def test_recover_folder_restores_only_a_folder_of_the_same_name_and_only_if_it_is_missing(sealed, monkeypatch):
    stop_between_renames(sealed, monkeypatch)
    with pytest.raises(InputError, match="is not a folder"):
        read_manifest(sealed.parent / "seal", "bags")
    sealed.mkdir()
    recover_folder(sealed)
    assert names_in(sealed) == []


def test_recover_folder_restores_the_newest_folder(tmp_path, monkeypatch):
    target = tmp_path / "run"
    for number, content in enumerate(("first", "second")):
        target.mkdir()
        (target / f"{content}.txt").write_text(content)
        stop_between_renames(target, monkeypatch)
        for aside in tmp_path.glob(f"{REPLACED_PREFIX}*/run/{content}.txt"):
            os.utime(aside.parent.parent, (number, number))  # the order must not depend on the resolution of the clock
    recover_folder(target)
    assert names_in(target) == ["second.txt"]


def test_recover_folder_never_restores_a_folder_that_was_replaced(tmp_path):
    target = tmp_path / "run"
    for content in ("first", "second"):
        write_folder(target, content)
    shutil.rmtree(target)
    recover_folder(target)
    assert names_in(tmp_path) == []
