"""Locks: one owner at a time, released on exit, taken over when the owner is dead."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from bagwise.errors import InputError
from bagwise.io import locking
from bagwise.io.locking import LOCK_FILE, describe_owner, hold_lock, lock_folder, try_lock

HOLD_UNTIL_STDIN_CLOSES = """
import sys
from pathlib import Path
from bagwise.io.locking import hold_lock

with hold_lock(Path(sys.argv[1])) as is_owner:
    print(is_owner, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path):
    return tmp_path / "folder" / "slide.lock"


@pytest.fixture(params=["file", "folder"])
def path(request, tmp_path):
    if request.param == "file":
        (tmp_path / "file").touch()
    return tmp_path / "file" if request.param == "file" else tmp_path


def test_hold_lock_has_one_owner_at_a_time(lock):
    with hold_lock(lock) as first:
        assert first
        assert describe_owner(lock) == f"process {os.getpid()} on {socket.gethostname()}"
        with hold_lock(lock) as second:
            assert not second
        assert lock.exists()  # the failed attempt did not release the lock
    assert not lock.exists()
    with hold_lock(lock) as third:
        assert third


def test_hold_lock_releases_after_an_error(lock):
    with pytest.raises(RuntimeError), hold_lock(lock):
        raise RuntimeError
    assert not lock.exists()


def test_hold_lock_respects_a_running_process_and_takes_over_from_a_killed_one(lock):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_UNTIL_STDIN_CLOSES, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "True\n"
        with hold_lock(lock) as is_owner:
            assert not is_owner
        assert describe_owner(lock) == f"process {process.pid} on {socket.gethostname()}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert lock.exists()
        with hold_lock(lock) as is_owner:
            assert is_owner
            assert describe_owner(lock) == f"process {os.getpid()} on {socket.gethostname()}"
        assert not lock.exists()
    finally:
        process.kill()
        process.communicate()


def test_hold_lock_respects_locks_of_other_machines(lock):
    lock.parent.mkdir()
    lock.write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
    with hold_lock(lock) as is_owner:
        assert not is_owner
    assert describe_owner(lock) == "process 1 on elsewhere"


def test_hold_lock_takes_over_a_lock_whose_owner_died_before_it_was_recorded(lock):
    lock.parent.mkdir()
    lock.touch()
    assert describe_owner(lock) == "another process"
    with hold_lock(lock) as is_owner:
        assert is_owner


def test_hold_lock_leaves_no_lock_without_an_owner_on_a_full_disk(lock, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="No space left") as raised, hold_lock(lock):
        pass
    assert raised.value.filename == str(lock)
    assert not lock.exists()


def test_hold_lock_gives_an_abandoned_lock_to_one_of_many_threads(lock):
    lock.parent.mkdir()
    lock.write_text(json.dumps({"pid": 1, "host": socket.gethostname()}))  # abandoned: no process holds its flock
    start, end, results = threading.Barrier(8), threading.Barrier(8), []

    def attempt():
        start.wait()
        with hold_lock(lock) as is_owner:
            results.append(is_owner)
            end.wait()

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(results) == 1


def test_lock_folder_names_the_first_writer_in_the_error_for_the_second(tmp_path):
    folder = tmp_path / "runs" / "one"
    owner = f"process {os.getpid()} on {socket.gethostname()}"
    message = f"one is being written by {owner}; .* delete {folder / LOCK_FILE}"
    with lock_folder(folder):
        with pytest.raises(InputError, match=message), lock_folder(folder):
            pytest.fail("two writers")
        (folder / "file").touch()
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_lock_folder_removes_the_folder_that_it_created_if_nothing_was_written(tmp_path):
    (tmp_path / "existing").mkdir()
    for folder in (tmp_path / "runs" / "one", tmp_path / "existing"):
        with pytest.raises(RuntimeError), lock_folder(folder):
            raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["existing"]


def test_try_lock_fails_until_the_holder_closes_its_handle(path):
    first, second = (os.open(path, os.O_RDONLY) for _ in range(2))
    assert try_lock(first)
    assert try_lock(second) is False
    os.close(first)
    assert try_lock(second)
    os.close(second)


def test_try_lock_returns_none_if_the_disk_or_the_system_has_no_flock(path, monkeypatch):
    def fail(handle, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    handle = os.open(path, os.O_RDONLY)
    monkeypatch.setattr("fcntl.flock", fail)
    assert try_lock(handle) is None
    monkeypatch.setattr(locking, "fcntl", None)
    assert try_lock(handle) is None
    os.close(handle)
