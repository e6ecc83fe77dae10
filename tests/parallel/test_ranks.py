"""Ranks: reductions over processes, and the assignment of bags to them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.parallel.ranks import RankLostError, Ranks, assign_bags, get_ranks, join_ranks
from training.together import together

laws = settings(deadline=None, derandomize=True)
SIZES = st.lists(st.integers(1, 10_000), min_size=1, max_size=60).map(np.array)


def test_join_ranks_without_torchrun_is_one_process_whose_reductions_return_their_input(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with join_ranks() as ranks:
        assert (ranks.number, ranks.size, ranks.first) == (0, 1, True)
        assert ranks.sum_over_processes(torch.tensor([2.0, 3.0])).tolist() == [2.0, 3.0]
        assert [ranks.any_process(flag) for flag in (True, False)] == [True, False]
        assert ranks.broadcast("text") == "text"
        ranks.wait()
        ranks.check_same([1, 2], "checkpoint")
    assert get_ranks().size == 1


def test_join_ranks_uses_an_existing_group_and_does_not_destroy_it(monkeypatch, tmp_path):
    """This calls torch.distributed in a group of one process; other tests use several processes."""
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        monkeypatch.setitem(os.environ, "WORLD_SIZE", "2")
        with join_ranks() as ranks:
            assert (ranks.number, ranks.size) == (0, 1)
        ranks.size = 2  # so that reductions use the group
        assert ranks.sum_over_processes(torch.tensor([5.0])).tolist() == [5.0]
        ranks.check_same([3, 4], "checkpoint")
        assert distributed.is_initialized()
    finally:
        distributed.destroy_process_group()


COUNT_THREADS = """
import os
import torch
from bagwise.parallel import join_ranks

before = os.listdir("/proc/self/task")
with join_ranks() as ranks:
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([parameter])
    parameter.grad = ranks.sum_over_processes(torch.ones(2))
    optimizer.step()
    during = os.listdir("/proc/self/task")
assert len(during) > len(before) and os.listdir("/proc/self/task") == before, (before, during)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_join_ranks_ends_its_threads(tmp_path):
    """A thread that outlives the group can abort the process when the interpreter ends."""
    script = tmp_path / "count_threads.py"
    script.write_text(COUNT_THREADS)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr


def test_broadcast_sends_the_text_of_the_first_rank():
    texts = together(3, lambda ranks: ranks.broadcast("bäg → 1" if ranks.first else "ignored"))
    assert texts == ["bäg → 1"] * 3
    assert together(3, lambda ranks: ranks.broadcast()) == [""] * 3


def test_any_process_is_true_if_the_flag_is_set_in_any_rank():
    assert together(3, lambda ranks: ranks.any_process(ranks.number == 2)) == [True] * 3
    assert together(3, lambda ranks: ranks.any_process(False)) == [False] * 3


def test_check_same_rejects_different_numbers(monkeypatch):
    import torch.distributed as distributed

    def all_reduce(values, op):
        values += 1 if op == distributed.ReduceOp.MAX else 0

    monkeypatch.setattr(distributed, "all_reduce", all_reduce)
    with pytest.raises(InputError, match="do not have the same checkpoint; put its folder on a disk that all of them"):
        Ranks(0, 2).check_same([1], "checkpoint")


def test_sum_over_processes_raises_rank_lost_error_if_the_connection_breaks(monkeypatch):
    def all_reduce(values):
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr("torch.distributed.all_reduce", all_reduce)
    with pytest.raises(RankLostError, match=r"another process of this run has died .* again with --resume"):
        Ranks(0, 2).sum_over_processes(torch.zeros(1))


@laws
@given(SIZES, st.integers(1, 9))
def test_assign_bags_assigns_every_bag_once(sizes, n_ranks):
    assigned = assign_bags(sizes, n_ranks)
    assert len(assigned) == n_ranks
    assert sorted(np.concatenate(assigned).tolist()) == list(range(len(sizes)))


@laws
@given(SIZES, st.integers(1, 9))
def test_assign_bags_balances_instances_to_within_the_largest_bag(sizes, n_ranks):
    loads = [int(sizes[bags].sum()) for bags in assign_bags(sizes, n_ranks)]
    assert max(loads) - min(loads) <= sizes.max()


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_assign_bags_gives_a_huge_bag_to_a_rank_alone(n_ranks):
    assigned = assign_bags(np.array([1, 1000, 1, 1, 1]), n_ranks)
    assert assigned[0].tolist() == [1]


def test_assign_bags_leaves_ranks_empty_if_there_are_fewer_bags():
    assert [bags.tolist() for bags in assign_bags(np.array([3]), 3)] == [[0], [], []]
