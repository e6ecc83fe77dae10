import numpy as np
import pytest
import torch

pytest.importorskip("numba")
from fused_problems import CLASSES, POOLINGS, get_batch_tensors, problem, run_module, run_one_step


@pytest.mark.parametrize("pooling", POOLINGS)
def test_pool_embeddings_matches_the_torch_module(pooling):
    given = problem(pooling=pooling, dropout=0.2)
    workspace, _ = run_one_step(given)
    rows, offsets = get_batch_tensors(given)
    embeddings = run_module(given, given.model.encoder, rows)
    expected = run_module(given, given.model.pooling, embeddings, offsets).values.numpy()
    np.testing.assert_allclose(workspace.pooled, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_pool_scores_matches_the_torch_module_for_small_and_large_scores(pooling, n_classes, scale):
    given = problem(pooling=pooling, level="instance", n_classes=n_classes, dropout=0.2)
    with torch.no_grad():
        for parameter in list(given.model.parameters())[:2]:
            parameter *= scale
    workspace, _ = run_one_step(given)
    expected = run_module(given, given.model, *get_batch_tensors(given)).scores.numpy()
    np.testing.assert_allclose(workspace.scores, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(expected).max() > scale / 100
