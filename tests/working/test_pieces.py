import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.working.pieces import STARTS, work
from faults.processes import lives
from working.dying import do, sleepy

PIECES = ["a", "b", "c", "d", "e"]


def all_of(folder, once):
    def left():
        return [piece for piece in PIECES if not (folder / piece).exists()]

    return work(partial(do, folder, "b", once), left, 2, lambda piece: f"piece {piece}")


def test_what_a_dead_worker_had_under_way_is_done_again(tmp_path):
    for _ in all_of(tmp_path, once=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "b.died", "c", "d", "e"]


def test_a_piece_that_kills_its_worker_each_time_is_named_and_the_others_are_done(tmp_path):
    with pytest.raises(InputError, match=r"^piece b: the process that worked on it was killed each time"):
        list(all_of(tmp_path, once=False))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b.died", "c", "d", "e"]
    assert (tmp_path / "b.died").read_text() == "!" * (STARTS + 1)


def test_closed_in_the_middle_it_ends_its_processes_without_a_word(recwarn):
    found = work(sleepy, lambda: [0, 60, 60, 60], 2, str)
    began = time.monotonic()
    pid = next(found)
    found.close()
    assert time.monotonic() - began < 50
    assert not lives(pid)
    assert [str(warning.message) for warning in recwarn] == []


def test_a_process_that_grew_is_replaced_without_a_word():
    code = (
        "from bagwise.working.pieces import work; from working.dying import grow; done = set()\n"
        "for piece in work(grow, lambda: [each for each in range(6) if each not in done], 2, str): done.add(piece)\n"
        "print(sorted(done))"
    )
    paths = os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("[0, 1, 2, 3, 4, 5]\n", "")
