import numpy as np
import pytest

pytest.importorskip("numba")
from fused_problems import CLASSES, look, packed, problem, with_torch


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("connections", [None, "deep supervision", "residual"])
def test_scores_are_those_of_the_module(connections, n_classes):
    encoder = "small" if connections is None else "mlp"
    given = problem(pooling="mean", connections=connections, encoder=encoder, n_classes=n_classes)
    for parameter in given.model.head.parameters():
        parameter.data.normal_()  # biases begin as zeros, and must count
    room, _ = look(given)
    expected = with_torch(given, given.model, *packed(given)).scores.numpy()
    np.testing.assert_allclose(room.scores, expected, rtol=1e-11, atol=1e-13)
