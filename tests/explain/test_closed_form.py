"""The closed form against the formula in plain loops, and against each model's own forward pass, pooled in float64."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.connections import DeepSupervision, Residual
from bagwise.explain import encoding
from bagwise.explain.closed_form import closed_form, has_closed_form
from bagwise.explain.contract import by_class
from bagwise.models import BagModel
from bagwise.pooling import Max, Mean
from sensible_models import every, model_of

CPU = torch.device("cpu")
DRAWS = np.random.default_rng(8)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 4)).astype(np.float32) for size in (5, 1, 9)])
ATTENTIONS = {
    "attention",
    "gated attention",
    "biased attention",
    "biased gated attention",
    "one-layer attention",
    "dot-product attention",
}


def is_linear(name, level, likelihood):
    return name in ATTENTIONS | {"sum"} or (name, level) == ("mean", "embedding")


def model_scores(model, bags):
    """The model's own scores, all that follows the encoder in float64."""
    instances, offsets = (torch.from_numpy(np.array(part)) for part in (bags.instances, bags.offsets))
    pooling, head = copy.deepcopy(model.pooling).double(), copy.deepcopy(model.head).double()
    with torch.no_grad():
        return head(pooling(model.encoder(instances).double(), offsets).values).numpy()


@every
@pytest.mark.parametrize("heads", [1, 3])
def test_it_is_found_where_it_exists_and_makes_up_the_models_own_score(case, heads):
    model = model_of(case, heads=heads, encoder="identity")
    assert has_closed_form(model) == is_linear(*case)
    if has_closed_form(model):
        for part in model.modules():
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.normal_(part.bias)  # zero as built, which would hide what becomes of it
        found = closed_form(model, BAGS, CPU)
        sums = np.array([part.sum(axis=0) for part in np.split(found.contributions, BAGS.offsets[1:-1])])
        expected = by_class(model_scores(model, BAGS))
        np.testing.assert_allclose(found.baseline + sums, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("heads", [1, 2])
def test_under_attention_it_is_the_weight_times_the_classifier_of_the_embedding(heads):
    model = model_of(("attention", "embedding", "bernoulli"), heads=heads, encoder="identity")
    nn.init.constant_(model.head.bias, 0.7)
    V, w = (part.weight.detach().double().numpy() for part in (model.pooling.V, model.pooling.w))
    W = model.head.weight.detach().double().numpy().reshape(heads, 4)
    found = closed_form(model, BAGS, CPU)
    for start, end in zip(BAGS.offsets, BAGS.offsets[1:], strict=False):
        bag = BAGS.instances[start:end].astype(np.float64)
        contributions = np.zeros(end - start)
        for head in range(heads):
            exponentials = np.exp([w[head] @ np.tanh(V @ h) for h in bag])
            contributions += exponentials / exponentials.sum() * [W[head] @ h for h in bag]
        np.testing.assert_allclose(found.contributions[start:end, 1], contributions, rtol=1e-12)
        np.testing.assert_allclose(found.contributions[start:end, 0], -contributions, rtol=1e-12)
    np.testing.assert_allclose(found.baseline, [-0.7, 0.7], rtol=1e-7)  # 0.7 in float32


def test_residual_connections_are_linear_and_deep_supervision_is_not():
    rows = DRAWS.normal(size=(6, sum(Residual.widths))).astype(np.float32)
    bags, model = Bags(rows, np.array([0, 2, 6])), BagModel(nn.Identity(), Mean(), Residual(3))
    assert has_closed_form(model)
    expected = by_class(model_scores(model, bags))
    np.testing.assert_allclose(closed_form(model, bags, CPU).scores, expected, rtol=1e-12, atol=1e-12)
    assert not has_closed_form(BagModel(nn.Identity(), Mean(), DeepSupervision(3)))


def test_a_head_with_a_hidden_layer_and_a_maximum_have_none():
    head = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    assert not has_closed_form(BagModel(nn.Identity(), Mean(), head))
    assert not has_closed_form(BagModel(nn.Identity(), Max(), nn.Linear(4, 1)))


def test_the_order_of_instances_does_not_matter():
    model = model_of(("gated attention", "embedding", "categorical"), encoder="identity")
    order = np.concatenate([DRAWS.permutation(np.arange(5)), [5], 6 + DRAWS.permutation(np.arange(9))])
    found = closed_form(model, BAGS, CPU)
    again = closed_form(model, Bags(BAGS.instances[order], BAGS.offsets), CPU)
    np.testing.assert_allclose(again.contributions, found.contributions[order], rtol=1e-12, atol=1e-14)


def test_what_all_classes_gain_alike_counts_for_none():
    model = model_of(("attention", "embedding", "categorical"), encoder="identity")
    found = closed_form(model, BAGS, CPU)
    with torch.no_grad():
        model.head.weight += torch.tensor([1.0, -2.0, 3.0, 4.0])
        model.head.bias += 5
    again = closed_form(model, BAGS, CPU)
    np.testing.assert_allclose(again.contributions, found.contributions, atol=1e-5)  # weights in float32
    np.testing.assert_allclose(again.baseline, found.baseline, atol=1e-5)
    np.testing.assert_allclose(found.contributions.sum(axis=1), 0, atol=1e-12)


def test_a_large_bag_is_encoded_in_pieces(monkeypatch):
    sizes = []

    class Counting(nn.Module):
        def forward(self, instances):
            sizes.append(len(instances))
            return instances

    model = model_of(("attention", "embedding", "bernoulli"), encoder="identity")
    whole = closed_form(model, BAGS, CPU)
    model.encoder = Counting()
    monkeypatch.setattr(encoding, "ROWS_AT_ONCE", 4)
    np.testing.assert_allclose(closed_form(model, BAGS, CPU).contributions, whole.contributions, rtol=1e-12)
    assert max(sizes) == 4
    assert sum(sizes) == BAGS.n_instances
