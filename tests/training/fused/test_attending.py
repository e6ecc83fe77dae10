import numpy as np
import pytest

pytest.importorskip("numba")
from fused_problems import LEVELS, look, packed, problem, with_torch


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", ["attention", "gated attention"])
def test_the_weights_are_those_of_the_module(pooling, level):
    given = problem(pooling=pooling, level=level, dropout=0.2)
    room, n_rows = look(given)
    expected = with_torch(given, given.model, *packed(given)).weights.numpy()[:, 0]
    np.testing.assert_allclose(room.attended[:n_rows], expected, rtol=1e-11)
    assert np.ptp(expected) > 0.01


def test_the_mean_weighs_all_alike():
    room, n_rows = look(problem(pooling="mean"))
    sizes = np.diff(room.edges)
    np.testing.assert_allclose(room.attended[:n_rows], np.repeat(1 / sizes, sizes))
