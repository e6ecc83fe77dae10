"""Claims: one owner at a time, given up on exit, taken over when the owner is dead."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from bagwise.claims import CLAIM, claimed, clear_remains, is_unused, owner, sole_writer
from bagwise.errors import InputError

HOLD = "import sys, time; from pathlib import Path; from bagwise.claims import claimed\n"
HOLD += "with claimed(Path(sys.argv[1])) as mine:\n    print(mine, flush=True)\n    time.sleep(60)\n"


@pytest.fixture
def claim(tmp_path):
    return tmp_path / "folder" / "slide.claim"


def test_one_owner_at_a_time(claim):
    with claimed(claim) as mine:
        assert mine
        assert owner(claim) == f"process {os.getpid()} on {socket.gethostname()}"
        with claimed(claim) as second:
            assert not second
        assert claim.exists()  # the refused one did not end the first one's claim
    assert not claim.exists()
    with claimed(claim) as again:
        assert again


def test_a_claim_ends_with_an_error_too(claim):
    with pytest.raises(RuntimeError), claimed(claim):
        raise RuntimeError
    assert not claim.exists()


def test_a_living_process_keeps_its_claim_and_a_killed_one_loses_it(claim):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(claim)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "True\n"
        with claimed(claim) as mine:
            assert not mine
        assert owner(claim) == f"process {process.pid} on {socket.gethostname()}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert claim.exists()
        with claimed(claim) as mine:
            assert mine
            assert owner(claim) == f"process {os.getpid()} on {socket.gethostname()}"
        assert not claim.exists()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_claims_of_other_machines_are_left_alone(claim):
    claim.parent.mkdir()
    claim.write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
    with claimed(claim) as mine:
        assert not mine
    assert owner(claim) == "process 1 on elsewhere"


def test_a_claim_whose_owner_died_before_writing_is_taken(claim):
    claim.parent.mkdir()
    claim.touch()
    assert owner(claim) == "another process"
    with claimed(claim) as mine:
        assert mine


def test_a_full_disk_leaves_no_claim_without_a_name(claim, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as found, claimed(claim):
        pass
    assert found.value.filename == str(claim)
    assert not claim.exists()


def test_of_many_at_once_one_wins(claim):
    claim.parent.mkdir()
    claim.write_text(json.dumps({"pid": 1, "host": socket.gethostname()}))  # dead: nobody holds its lock
    start, end, won = threading.Barrier(8), threading.Barrier(8), []

    def attempt():
        start.wait()
        with claimed(claim) as mine:
            won.append(mine)
            end.wait()

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(won) == 1


def test_a_second_writer_is_told_who_the_first_is(tmp_path):
    folder = tmp_path / "runs" / "one"
    told = f"one is being written by process {os.getpid()} on {socket.gethostname()}; .* delete {folder / CLAIM}"
    with sole_writer(folder):
        with pytest.raises(InputError, match=told), sole_writer(folder):
            pytest.fail("two writers")
        (folder / "file").touch()
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_folder_in_which_nothing_was_written_is_not_left_behind(tmp_path):
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "runs" / "one", tmp_path / "mine"):
        with pytest.raises(RuntimeError), sole_writer(folder):
            raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]  # which was there before


def test_drafts_and_claims_of_dead_processes_do_not_make_a_folder_used(tmp_path):
    assert is_unused(tmp_path / "nowhere")
    (tmp_path / CLAIM).touch()
    (tmp_path / ".draft-1").mkdir()
    assert is_unused(tmp_path)
    (tmp_path / ".hidden").touch()
    assert not is_unused(tmp_path)
    assert not is_unused(tmp_path / ".hidden")


def test_what_was_left_half_written_is_removed_and_nothing_else(tmp_path):
    (tmp_path / "units" / ".draft-1").mkdir(parents=True)
    (tmp_path / "units" / ".draft-1" / "file").touch()
    (tmp_path / ".draft-2").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / ".draft-3").symlink_to(tmp_path / "outside")
    (tmp_path / "units" / "whole").touch()
    clear_remains(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["outside", "units", "whole"]
    clear_remains(tmp_path / "nowhere")
