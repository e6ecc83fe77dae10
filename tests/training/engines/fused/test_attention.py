import numpy as np
import pytest

pytest.importorskip("numba")
from fused_problems import LEVELS, get_batch_tensors, problem, run_module, run_one_step


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", ["attention", "gated attention"])
def test_attention_forward_matches_the_weights_of_the_torch_module(pooling, level):
    given = problem(pooling=pooling, level=level, dropout=0.2)
    workspace, n_rows = run_one_step(given)
    expected = run_module(given, given.model, *get_batch_tensors(given)).weights.numpy()[:, 0]
    np.testing.assert_allclose(workspace.instance_weights[:n_rows], expected, rtol=1e-11)
    assert np.ptp(expected) > 0.01


def test_compute_instance_weights_returns_equal_weights_for_mean_pooling():
    workspace, n_rows = run_one_step(problem(pooling="mean"))
    sizes = np.diff(workspace.offsets)
    np.testing.assert_allclose(workspace.instance_weights[:n_rows], np.repeat(1 / sizes, sizes))
