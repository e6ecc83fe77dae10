"""An open folder is one version of the folder, and a folder that is replaced while it is read is read again."""

import os

import pytest

from bagwise.errors import InputError
from bagwise.io import atomic, open_folders
from bagwise.io.atomic import write_folder_atomically
from bagwise.io.open_folders import OpenFolder, read_folder


def write(folder, content):
    with write_folder_atomically(folder) as temporary:
        for name in ("a", "b"):
            (temporary / name).write_text(content)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "folder", "old")
    return tmp_path / "folder"


def read_both(opened):
    return [opened.open_file(name).read().decode() for name in ("a", "b")]


def test_open_folder_reads_files_that_were_opened_before_the_folder_was_replaced(folder):
    opened = OpenFolder(folder)
    assert read_both(opened) == ["old", "old"]
    write(folder, "new")
    assert not opened.is_current()
    assert read_both(opened) == ["old", "old"]
    assert opened.get_size("a") == 3
    with opened.read_file("b") as stream:
        assert stream.read() == b"old"
    opened.close()


def test_open_folder_reads_a_file_in_a_block_and_closes_it(folder):
    opened = OpenFolder(folder)
    with opened.read_file("a") as stream:
        assert stream.read() == b"old"
    assert stream.closed
    assert opened.is_current()
    opened.close()


def test_open_folder_refuses_what_is_not_a_file(folder):
    (folder / "inner").mkdir()
    os.mkfifo(folder / "pipe")
    opened = OpenFolder(folder)
    for name in ("inner", "pipe"):
        with pytest.raises(OSError, match="is not a regular file"):
            opened.open_file(name)
    with pytest.raises(FileNotFoundError):
        opened.open_file("missing")
    opened.close()


@pytest.mark.parametrize("can_exchange", [True, False])
def test_read_folder_reads_the_new_folder_if_a_file_of_the_old_one_is_gone(folder, can_exchange, monkeypatch):
    if not can_exchange:
        monkeypatch.setattr(atomic, "exchange_folders", lambda *_: False)
    attempts = []

    def read(opened):
        first = opened.open_file("a").read().decode()
        if not attempts:
            write(folder, "new")
        attempts.append(first)
        return [first, opened.open_file("b").read().decode()]

    assert read_folder(folder, read) == ["new", "new"]
    assert attempts == ["old", "new"]


def test_read_folder_raises_the_error_of_a_folder_that_was_not_replaced(folder):
    attempts = []

    def fail(opened):
        attempts.append(opened)
        raise InputError("damaged")

    with pytest.raises(InputError, match="damaged"):
        read_folder(folder, fail)
    assert len(attempts) == 1
    with pytest.raises(InputError, match=r"missing is not a folder; check the path"):
        read_folder(folder.with_name("missing"), read_both)


def test_read_folder_waits_while_the_folder_is_missing_because_it_is_being_replaced(folder, monkeypatch):
    monkeypatch.setattr(atomic, "exchange_folders", lambda *_: False)
    found, rename = [], type(folder).replace

    def read_in_between(path, destination):
        if destination == folder:  # the old folder was moved aside
            assert not folder.exists()

            def finish(_):
                monkeypatch.undo()
                rename(path, destination)

            monkeypatch.setattr(open_folders.time, "sleep", finish)
            found.append(read_folder(folder, read_both))
            return
        rename(path, destination)

    monkeypatch.setattr(type(folder), "replace", read_in_between)
    write(folder, "new")
    assert found == [["new", "new"]]
