"""Connections past the last layer against a direct transcription of Wang et al. (2018)."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.likelihoods import Bernoulli, Categorical
from bagwise.models import assemble
from bagwise.pooling import Settings
from bagwise.training.batches import tensors

DRAWS = np.random.default_rng(0)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 5)) for size in (3, 1, 4)])
TARGETS = torch.tensor([1, 0, 1])
CONNECTIONS = ["deep supervision", "residual"]


def make(connections, likelihood, pooling="max"):
    settings, generator = Settings(8, 1), torch.Generator().manual_seed(1)
    words = {"encoder": "mlp", "level": "embedding", "dropout": 0.0, "settings": settings, "generator": generator}
    return assemble((5,), likelihood, pooling=pooling, connections=connections, **words).double()


def pooled_layers(model):
    """For each bag and layer: the largest value of each unit, computed bag by bag and layer by layer."""
    pooled = []
    for bag in BAGS:
        values, layers = torch.tensor(bag), []
        for layer in model.encoder.layers:
            values = torch.relu(values @ layer[0].weight.T + layer[0].bias)
            layers.append(values.max(dim=0).values)
        pooled.append(layers)
    return pooled


@pytest.mark.parametrize("each", [Bernoulli(), Categorical(3)], ids=["two classes", "three"])
def test_deep_supervision_adds_the_losses_of_the_layers_and_averages_their_probabilities(each):
    from bagwise.connections import DeepSupervision

    likelihood = DeepSupervision.likelihood(each)
    model = make("deep supervision", likelihood)
    scores = model(*tensors(BAGS, torch.device("cpu"))).scores
    losses, probabilities = likelihood.loss(scores, TARGETS), likelihood.probabilities(scores)
    for bag, layers in enumerate(pooled_layers(model)):
        heads = zip(model.head.classifiers, layers, strict=True)
        own = [head.weight @ layer + head.bias for head, layer in heads]
        chances = [each.probabilities(score[None])[0] for score in own]
        expected = sum(-torch.log(chance[TARGETS[bag]]) for chance in chances)
        torch.testing.assert_close(losses[bag], expected)
        torch.testing.assert_close(probabilities[bag], sum(chances) / 3)
    decided = torch.as_tensor(likelihood.decisions(scores.detach().numpy()))
    again = each.probabilities(decided[:, None] if decided.ndim == 1 else decided)
    torch.testing.assert_close(again, probabilities.detach())


def test_residual_connections_sum_the_pooled_layers():
    model = make("residual", Bernoulli())
    scores = model(*tensors(BAGS, torch.device("cpu"))).scores
    for bag, layers in enumerate(pooled_layers(model)):
        expected = functional.linear(sum(layers), model.head.classifier.weight, model.head.classifier.bias)
        torch.testing.assert_close(scores[bag], expected)


@pytest.mark.parametrize("connections", CONNECTIONS)
@pytest.mark.parametrize("pooling", ["max", "mean", "log-sum-exp", "gated attention"])
@pytest.mark.parametrize("labels", [[0, 1] * 10, [0, 1, 2, 1] * 5], ids=["two classes", "three"])
def test_they_are_trained_saved_and_loaded_like_any_other(tmp_path, connections, pooling, labels):
    bags = Bags.from_list([DRAWS.normal(size=(3, 5)) + label for label in labels])
    model = BagClassifier(pooling=pooling, connections=connections, epochs=2, random_state=0).fit(bags, labels)
    probabilities = model.predict_proba(bags)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.add.reduceat(model.weigh(bags), bags.offsets[:-1]), 1, rtol=1e-6)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(BagClassifier.load(tmp_path / "model").predict_proba(bags), probabilities)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": "instance"}, "use level='embedding'"),
        ({"encoder": "identity"}, "need the layers of the encoder 'mlp'"),
        ({"heads": 2}, "use heads=1"),
        ({"connections": "rezidual"}, "did you mean 'residual'"),
        ({"pooling": "noisy-or"}, "noisy-or combines probabilities"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(parameters, message):
    bags = Bags.from_list([DRAWS.normal(size=(3, 5)) for _ in range(4)])
    with pytest.raises(InputError, match=message):
        BagClassifier(**{"connections": "residual", "epochs": 1, **parameters}).fit(bags, [0, 1, 0, 1])
