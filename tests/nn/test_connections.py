"""Comparison of connections with a direct implementation of Wang et al. (2018)."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.bag_model import build_bag_model
from bagwise.nn.connections import CONNECTIONS, DeepSupervision
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.targets.class_likelihoods import Bernoulli, Categorical
from bagwise.training.batches import bags_to_tensors

RANDOM = np.random.default_rng(0)
BAGS = Bags.from_list([RANDOM.normal(size=(size, 5)) for size in (3, 1, 4)])
TARGETS = torch.tensor([1, 0, 1])


def build(connections, likelihood, pooling="max"):
    return build_bag_model(
        (5,),
        likelihood,
        encoder="mlp",
        pooling=pooling,
        level="embedding",
        connections=connections,
        dropout=0.0,
        settings=PoolingSettings(attention_width=8, heads=1),
        generator=torch.Generator().manual_seed(1),
    ).double()


def pool_layers(model):
    """Return the maximum of each unit, computed bag by bag and layer by layer."""
    pooled = []
    for bag in BAGS:
        values, layers = torch.tensor(bag), []
        for layer in model.encoder.layers:
            values = torch.relu(values @ layer[0].weight.T + layer[0].bias)
            layers.append(values.max(dim=0).values)
        pooled.append(layers)
    return pooled


@pytest.mark.parametrize("single", [Bernoulli(), Categorical(3)], ids=["two classes", "three"])
def test_deep_supervision_adds_the_losses_of_the_layers_and_averages_their_probabilities(single):
    likelihood = DeepSupervision.likelihood(single)
    model = build("deep supervision", likelihood)
    scores = model(*bags_to_tensors(BAGS, torch.device("cpu"))).scores
    losses, probabilities = likelihood.loss(scores, TARGETS), likelihood.outputs(scores)
    for bag, layers in enumerate(pool_layers(model)):
        heads = zip(model.head.classifiers, layers, strict=True)
        layer_scores = [head.weight @ layer + head.bias for head, layer in heads]
        layer_probabilities = [single.outputs(score[None])[0] for score in layer_scores]
        expected = sum(-torch.log(each[TARGETS[bag]]) for each in layer_probabilities)
        torch.testing.assert_close(losses[bag], expected)
        torch.testing.assert_close(probabilities[bag], sum(layer_probabilities) / 3)
    torch.testing.assert_close(single.outputs(likelihood.combine_scores(scores)), probabilities)


def test_residual_classifies_the_sum_of_the_pooled_layers():
    model = build("residual", Bernoulli())
    scores = model(*bags_to_tensors(BAGS, torch.device("cpu"))).scores
    for bag, layers in enumerate(pool_layers(model)):
        expected = functional.linear(sum(layers), model.head.classifier.weight, model.head.classifier.bias)
        torch.testing.assert_close(scores[bag], expected)


@pytest.mark.parametrize("connections", CONNECTIONS)
@pytest.mark.parametrize(
    ("pooling", "labels"),
    [
        ("max", [0, 1] * 10),
        ("mean", [0, 1, 2, 1] * 5),
        ("log-sum-exp", [0, 1] * 10),
        ("gated attention", [0, 1, 2, 1] * 5),
    ],
    ids=["max, two classes", "mean, three", "log-sum-exp, two", "gated attention, three"],
)
def test_connections_are_trained_saved_and_loaded_like_other_models(tmp_path, connections, pooling, labels):
    bags = Bags.from_list([RANDOM.normal(size=(3, 5)) + label for label in labels])
    model = BagClassifier(pooling=pooling, connections=connections, epochs=2, random_state=0).fit(bags, labels)
    probabilities = model.predict_proba(bags)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.add.reduceat(model.weigh(bags), bags.offsets[:-1]), 1, rtol=1e-6)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(BagClassifier.load(tmp_path / "model").predict_proba(bags), probabilities)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": "instance"}, "level='instance' is not possible; use level='embedding'"),
        ({"encoder": "identity"}, "use the layers of the encoder 'mlp'"),
        ({"heads": 2}, "got heads=2; use heads=1"),
        ({"connections": "rezidual"}, "did you mean 'residual'"),
        ({"pooling": "noisy-or"}, "pooling 'noisy-or' combines probabilities"),
    ],
    ids=str,
)
def test_check_connection_rejects_unsupported_combinations(parameters, message):
    bags = Bags.from_list([RANDOM.normal(size=(3, 5)) for _ in range(4)])
    with pytest.raises(InputError, match=message):
        BagClassifier(**{"connections": "residual", "epochs": 1, **parameters}).fit(bags, [0, 1, 0, 1])
