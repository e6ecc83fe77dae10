"""What a killed process was writing is removed by the next who writes there; what lives is left alone."""

import itertools
import os
import signal
import socket
import subprocess
import sys

import pytest

from bagwise import drafts, files
from bagwise.files import atomic_folder

WRITES = """
import os, sys, signal
from pathlib import Path
from bagwise.files import atomic_folder

with atomic_folder(Path(sys.argv[1])) as draft:
    (draft / "big").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_writing(target):
    """The draft of a process that was killed while it wrote a folder."""
    assert subprocess.run([sys.executable, "-c", WRITES, target], check=False).returncode == -signal.SIGKILL
    (left,) = target.parent.glob(f"{drafts.marked(target)}*")
    assert (left / "big").exists()
    return left


def write(target):
    with atomic_folder(target) as draft:
        (draft / "whole").touch()


def test_what_a_killed_process_left_goes_with_the_next_of_the_same_folder(tmp_path):
    left = killed_while_writing(tmp_path / "bags")
    write(tmp_path / "others")
    assert left.exists()
    write(tmp_path / "bags")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bags", "others"]


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    with atomic_folder(tmp_path / "bags") as draft:
        (draft / "first").touch()
        write(tmp_path / "bags")
        assert (draft / "first").exists()
    assert [path.name for path in (tmp_path / "bags").iterdir()] == ["first"]
    assert [path.name for path in tmp_path.iterdir()] == ["bags"]


def test_what_another_machine_wrote_is_left_alone(tmp_path, monkeypatch):
    left = killed_while_writing(tmp_path / "bags")
    name = socket.gethostname()
    monkeypatch.setattr("socket.gethostname", lambda: f"not-{name}")
    write(tmp_path / "bags")
    assert left.exists()


@pytest.mark.parametrize("held", [None, False])
def test_without_locks_nothing_is_taken_for_dead(tmp_path, monkeypatch, held):
    left = killed_while_writing(tmp_path / "bags")
    monkeypatch.setattr(drafts, "try_lock", lambda handle: held)
    write(tmp_path / "bags")
    assert left.exists()


def test_where_folders_cannot_be_opened_they_are_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_DIRECTORY")
    write(tmp_path / "bags")
    assert [path.name for path in tmp_path.iterdir()] == ["bags"]


def test_a_file_or_a_link_of_such_a_name_is_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    link, file = (drafts.beside(tmp_path / "bags", drafts.marked(tmp_path / "bags")) for _ in range(2))
    link.symlink_to(tmp_path / "mine")
    file.touch()
    write(tmp_path / "bags")
    assert link.is_symlink()
    assert file.exists()
    assert (tmp_path / "mine").is_dir()


def interrupted_at(step, act):
    """Whether the act came as far as this line, counted over drafts.py and files.py, where Ctrl-C is pressed."""
    lines = 0

    def watch(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename not in (drafts.__file__, files.__file__):
            return None
        lines += event == "line"
        if event == "line" and lines == step:
            sys.settrace(None)
            raise KeyboardInterrupt
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("there", [False, True])
def test_ctrl_c_at_any_line_leaves_the_folder_whole_or_as_it_was_and_nothing_beside(tmp_path, there):
    for step in itertools.count(1):
        target = tmp_path / str(step) / "bags"
        target.parent.mkdir()
        if there:
            target.mkdir()
            (target / "old").touch()
        interrupted = interrupted_at(step, lambda: write(target))  # noqa: B023 (called at once)
        files.recover(target)
        found = sorted(path.relative_to(target.parent).as_posix() for path in target.parent.rglob("*"))
        assert found in (["bags", "bags/old"] if there else [], ["bags", "bags/whole"]), step
        if not interrupted:
            break
    assert step > 30
