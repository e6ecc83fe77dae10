import threadpoolctl
import torch

from bagwise.training.threads import one_thread


def test_everything_computes_with_one_thread_for_a_while():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with one_thread():
        assert torch.get_num_threads() == 1
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} <= {1}
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
