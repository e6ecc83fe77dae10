"""A lock is its holder's while it lives."""

import errno
import os

import pytest

from bagwise import locks


@pytest.fixture(params=["file", "folder"])
def place(request, tmp_path):
    if request.param == "file":
        (tmp_path / "file").touch()
    return tmp_path / "file" if request.param == "file" else tmp_path


def test_a_lock_is_free_again_when_its_holder_is_gone(place):
    holder, other = (os.open(place, os.O_RDONLY) for _ in range(2))
    assert locks.try_lock(holder)
    assert locks.try_lock(other) is False
    os.close(holder)
    assert locks.try_lock(other)
    os.close(other)


def test_a_disk_or_a_system_without_locks_says_so(place, monkeypatch):
    def refuse(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    handle = os.open(place, os.O_RDONLY)
    monkeypatch.setattr("fcntl.flock", refuse)
    assert locks.try_lock(handle) is None
    monkeypatch.setattr(locks, "fcntl", None)
    assert locks.try_lock(handle) is None
    os.close(handle)
