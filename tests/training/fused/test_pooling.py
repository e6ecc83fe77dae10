import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from fused_problems import CLASSES, POOLINGS, look, packed, problem, with_torch


@pytest.mark.parametrize("pooling", POOLINGS)
def test_pooled_embeddings_are_those_of_the_module(pooling):
    given = problem(pooling=pooling, dropout=0.2)
    room, _ = look(given)
    rows, offsets = packed(given)
    embeddings = with_torch(given, given.model.encoder, rows)
    expected = with_torch(given, given.model.pooling, embeddings, offsets).values.numpy()
    np.testing.assert_allclose(room.pooled, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_pooled_scores_are_those_of_the_module_whatever_their_size(pooling, n_classes, scale):
    given = problem(pooling=pooling, level="instance", n_classes=n_classes, dropout=0.2)
    with torch.no_grad():
        for parameter in list(given.model.parameters())[:2]:
            parameter *= scale
    room, _ = look(given)
    expected = with_torch(given, given.model, *packed(given)).scores.numpy()
    np.testing.assert_allclose(room.scores, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(expected).max() > scale / 100
