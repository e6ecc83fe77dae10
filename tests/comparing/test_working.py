from functools import partial

import pytest

from bagwise.comparing.working import STARTS, work
from bagwise.errors import InputError
from comparing.dying import do

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
