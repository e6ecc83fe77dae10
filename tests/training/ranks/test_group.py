import os

import pytest
import torch

from bagwise.errors import InputError
from bagwise.training.ranks import Lost, Ranks, current, joined
from training.together import together


def test_without_torchrun_a_run_is_one_process_and_sums_are_what_they_were(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as ranks:
        assert (ranks.number, ranks.size, ranks.first) == (0, 1, True)
        assert ranks.summed(torch.tensor([2.0, 3.0])).tolist() == [2.0, 3.0]
        assert [ranks.agreed(wish) for wish in (True, False)] == [True, False]
        assert ranks.tell("words") == "words"
        ranks.wait()
        ranks.check_same([1, 2], "thing")
    assert current().size == 1


def test_all_hear_the_first_and_any_may_wish():
    heard = together(3, lambda ranks: ranks.tell("bäg → 1" if ranks.first else "not said"))
    assert heard == ["bäg → 1"] * 3
    assert together(3, lambda ranks: ranks.tell()) == [""] * 3
    assert together(3, lambda ranks: ranks.agreed(ranks.number == 2)) == [True] * 3
    assert together(3, lambda ranks: ranks.agreed(False)) == [False] * 3


def test_a_broken_connection_is_a_lost_process():
    ranks = Ranks(0, 2)

    def broken():
        raise RuntimeError("Connection closed by peer")

    with pytest.raises(Lost):
        ranks._together(broken)


def test_a_real_group_of_one_is_joined_and_left(monkeypatch, tmp_path):
    """The calls of torch.distributed themselves, which several processes make elsewhere."""
    import torch.distributed as processes

    processes.init_process_group("gloo", init_method=f"file://{tmp_path / 'meeting'}", rank=0, world_size=1)
    try:
        monkeypatch.setitem(os.environ, "WORLD_SIZE", "2")
        with joined() as ranks:  # the caller's own group is used, and not ended
            assert (ranks.number, ranks.size) == (0, 1)
        ranks.size = 2  # so that it asks the group
        assert ranks.summed(torch.tensor([5.0])).tolist() == [5.0]
        ranks.check_same([3, 4], "checkpoint")
        assert processes.is_initialized()
    finally:
        processes.destroy_process_group()


def test_processes_that_stand_elsewhere_are_refused(monkeypatch):
    import torch.distributed as processes

    def reduced(values, op):
        values += 1 if op == processes.ReduceOp.MAX else 0

    monkeypatch.setattr(processes, "all_reduce", reduced)
    with pytest.raises(InputError, match="do not see the same checkpoint; its folder must be shared"):
        Ranks(0, 2).check_same([1], "checkpoint")
