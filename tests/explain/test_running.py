"""Scores along a walk against the model's own forward pass over every prefix, pooled in float64."""

import copy

import numpy as np
import pytest
import torch

from bagwise.bags import Bags
from bagwise.explain import running
from bagwise.explain.contract import class_scores
from bagwise.explain.orders import plan_walk
from bagwise.explain.running import walking
from sensible_models import LIKELIHOODS, every, model_of

ROWS = np.random.default_rng(3).normal(size=(7, 4)).astype(np.float32)


@every
@pytest.mark.parametrize(("steps", "most"), [(7, 1000), (3, 15)])
def test_running_totals_score_every_prefix_as_the_model_does(case, steps, most, monkeypatch):
    monkeypatch.setattr(running, "ROWS_AT_ONCE", most)
    model, likelihood = model_of(case, heads=2, encoder="identity"), LIKELIHOODS[case[2]]
    walk = plan_walk(len(ROWS), n_orders=3, n_steps=steps)
    found = walking(model, likelihood, torch.device("cpu"))(Bags(ROWS, np.array([0, len(ROWS)])), walk)
    assert found.shape[:2] == (3, steps)
    pooling, head = copy.deepcopy(model.pooling).double(), copy.deepcopy(model.head).double()
    with torch.no_grad():
        rows = model.encoder(torch.from_numpy(ROWS)).double()
        for order, along in zip(walk.orders, found, strict=True):
            for edge, scores in zip(walk.edges[1:], along, strict=True):
                prefix = rows[torch.from_numpy(order[:edge].copy())]
                expected = likelihood.log_probabilities(head(pooling(prefix, torch.tensor([0, edge])).values))
                np.testing.assert_allclose(scores, class_scores(expected)[0], rtol=1e-10, atol=1e-10)
