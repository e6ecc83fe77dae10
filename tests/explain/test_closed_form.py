"""The closed form is compared with plain loops over the formula, and with the forward pass of each model in float64."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.explain import closed_form
from bagwise.explain.closed_form import attribute_in_closed_form, compute_embeddings, has_closed_form, to_float64
from bagwise.nn.bag_model import BagModel
from bagwise.nn.connections import DeepSupervision, Residual
from bagwise.nn.pooling.linear import Mean
from bagwise.nn.pooling.maximum import Max
from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from contexts import every_context
from sensible_models import LIKELIHOODS, every, model_of

CPU = torch.device("cpu")
NEEDLES = load_dataset("needles", n_bags=6)
MODEL = model_of(("attention", "embedding", "bernoulli"), shape=NEEDLES.instance_shape, encoder="mlp").float()


def test_compute_embeddings_yields_the_embeddings_of_a_prediction_in_chunks(monkeypatch):
    instances = torch.from_numpy(np.array(NEEDLES.instances, dtype=np.float32))
    bags = NEEDLES.replace(instances=instances.numpy())
    MODEL.train()
    monkeypatch.setattr(closed_form, "ROWS_AT_ONCE", 4)
    with torch.no_grad():
        chunks = list(compute_embeddings(MODEL, bags, CPU))
        expected = MODEL.eval().encoder(instances)  # without dropout
    assert max(map(len, chunks)) <= 4
    torch.testing.assert_close(torch.cat(chunks), expected.double(), rtol=1e-5, atol=1e-6)


def test_compute_embeddings_restores_the_mode_of_the_encoder():
    MODEL.train()
    bags = NEEDLES.replace(instances=np.array(NEEDLES.instances, dtype=np.float32))
    with torch.no_grad():
        assert not any(MODEL.encoder.training for _ in compute_embeddings(MODEL, bags, CPU))
    assert MODEL.encoder.training


def test_to_float64_returns_a_copy():
    copied = to_float64(MODEL.pooling)
    assert {value.dtype for value in copied.state_dict().values()} == {torch.float64}
    assert {value.dtype for value in MODEL.pooling.state_dict().values()} == {torch.float32}
    for name, value in MODEL.pooling.state_dict().items():
        torch.testing.assert_close(copied.state_dict()[name], value.double(), rtol=0, atol=0)


RNG = np.random.default_rng(8)
BAGS = Bags.from_list([RNG.normal(size=(size, 4)).astype(np.float32) for size in (5, 1, 9)])
ATTENTION_POOLINGS = {
    "attention",
    "gated attention",
    "biased attention",
    "biased gated attention",
    "one-layer attention",
    "dot-product attention",
}


def is_linear(name, level, likelihood):
    return name in ATTENTION_POOLINGS | {"sum"} or (name, level) == ("mean", "embedding")


def model_scores(model, bags):
    """Return the scores of the model, with pooling and head in float64."""
    instances, offsets = (torch.from_numpy(np.array(part)) for part in (bags.instances, bags.offsets))
    pooling, head = copy.deepcopy(model.pooling).double(), copy.deepcopy(model.head).double()
    with torch.no_grad():
        return head(pooling(model.encoder(instances).double(), offsets).values).numpy()


@every
@pytest.mark.parametrize("heads", [pytest.param(1, marks=pytest.mark.full), 3])
def test_attribute_in_closed_form_sums_to_the_score_of_every_linear_model(case, heads):
    model, likelihood = model_of(case, heads=heads, encoder="identity"), LIKELIHOODS[case[2]]
    assert has_closed_form(model) == is_linear(*case)
    if has_closed_form(model):
        for part in model.modules():
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.normal_(part.bias)  # a bias of zero, as initialised, would hide errors in the baseline
        found = attribute_in_closed_form(model, likelihood, BAGS, CPU)
        sums = np.array([part.sum(axis=0) for part in np.split(found.contributions, BAGS.offsets[1:-1])])
        expected = likelihood.score_outputs(model_scores(model, BAGS))
        np.testing.assert_allclose(found.baseline + sums, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("heads", [1, 2])
def test_attribute_in_closed_form_of_attention_is_the_weight_times_the_linear_head(heads):
    model, likelihood = model_of(("attention", "embedding", "bernoulli"), heads=heads, encoder="identity"), Bernoulli()
    nn.init.constant_(model.head.bias, 0.7)
    V, w = (part.weight.detach().double().numpy() for part in (model.pooling.V, model.pooling.w))
    W = model.head.weight.detach().double().numpy().reshape(heads, 4)
    found = attribute_in_closed_form(model, likelihood, BAGS, CPU)
    for start, end in zip(BAGS.offsets, BAGS.offsets[1:], strict=False):
        bag = BAGS.instances[start:end].astype(np.float64)
        contributions = np.zeros(end - start)
        for head in range(heads):
            exponentials = np.exp([w[head] @ np.tanh(V @ h) for h in bag])
            contributions += exponentials / exponentials.sum() * [W[head] @ h for h in bag]
        np.testing.assert_allclose(found.contributions[start:end, 1], contributions, rtol=1e-12)
        np.testing.assert_allclose(found.contributions[start:end, 0], -contributions, rtol=1e-12)
    np.testing.assert_allclose(found.baseline, [-0.7, 0.7], rtol=1e-7)  # 0.7 in float32


def test_has_closed_form_for_residual_connections_but_not_for_deep_supervision():
    rows = RNG.normal(size=(6, sum(Residual.widths))).astype(np.float32)
    bags, model = Bags(rows, np.array([0, 2, 6])), BagModel(nn.Identity(), Mean(), Residual(3))
    assert has_closed_form(model)
    expected = Categorical(3).score_outputs(model_scores(model, bags))
    np.testing.assert_allclose(
        attribute_in_closed_form(model, Categorical(3), bags, CPU).scores, expected, rtol=1e-12, atol=1e-12
    )
    assert not has_closed_form(BagModel(nn.Identity(), Mean(), DeepSupervision(3)))


@every_context
def test_has_closed_form_is_false_with_a_context(kind):
    assert not has_closed_form(BagModel(nn.Identity(), Mean(), nn.Linear(4, 1), context=kind(4)))


def test_has_closed_form_is_false_for_max_and_for_a_hidden_layer():
    head = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    assert not has_closed_form(BagModel(nn.Identity(), Mean(), head))
    assert not has_closed_form(BagModel(nn.Identity(), Max(), nn.Linear(4, 1)))


def test_attribute_in_closed_form_does_not_depend_on_the_order_of_instances():
    model, likelihood = model_of(("gated attention", "embedding", "categorical"), encoder="identity"), Categorical(4)
    order = np.concatenate([RNG.permutation(np.arange(5)), [5], 6 + RNG.permutation(np.arange(9))])
    found = attribute_in_closed_form(model, likelihood, BAGS, CPU)
    again = attribute_in_closed_form(model, likelihood, Bags(BAGS.instances[order], BAGS.offsets), CPU)
    np.testing.assert_allclose(again.contributions, found.contributions[order], rtol=1e-12, atol=1e-14)


def test_attribute_in_closed_form_ignores_changes_common_to_all_classes():
    model, likelihood = model_of(("attention", "embedding", "categorical"), encoder="identity"), Categorical(4)
    found = attribute_in_closed_form(model, likelihood, BAGS, CPU)
    with torch.no_grad():
        model.head.weight += torch.tensor([1.0, -2.0, 3.0, 4.0])
        model.head.bias += 5
    again = attribute_in_closed_form(model, likelihood, BAGS, CPU)
    np.testing.assert_allclose(again.contributions, found.contributions, atol=1e-5)  # weights in float32
    np.testing.assert_allclose(again.baseline, found.baseline, atol=1e-5)
    np.testing.assert_allclose(found.contributions.sum(axis=1), 0, atol=1e-12)


def test_attribute_in_closed_form_encodes_a_large_bag_in_chunks(monkeypatch):
    sizes = []

    class CountingEncoder(nn.Module):
        def forward(self, instances):
            sizes.append(len(instances))
            return instances

    model, likelihood = model_of(("attention", "embedding", "bernoulli"), encoder="identity"), Bernoulli()
    whole = attribute_in_closed_form(model, likelihood, BAGS, CPU)
    model.encoder = CountingEncoder()
    monkeypatch.setattr(closed_form, "ROWS_AT_ONCE", 4)
    np.testing.assert_allclose(
        attribute_in_closed_form(model, likelihood, BAGS, CPU).contributions, whole.contributions, rtol=1e-12
    )
    assert max(sizes) == 4
    assert sum(sizes) == BAGS.n_instances
