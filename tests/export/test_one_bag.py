import numpy as np
import pytest
import torch
from torch import nn

from bagwise import BagClassifier, load_dataset
from bagwise.errors import InputError
from bagwise.export.one_bag import Ends, OneBag
from bagwise.pooling import POOLINGS, Pooled, Pooling
from bagwise.pooling.contract import ProbabilityPooling
from bagwise.segments import softmax, spread, weighted_sum
from unchecked import unchecked

SIZES = (1, 2, 7, 300)


@pytest.fixture(scope="module")
def needles():
    return load_dataset("needles", n_bags=12)


def fitted(bags, **parameters):
    return BagClassifier(epochs=1, random_state=0, engine="torch", **parameters).fit(bags, bags.labels)


def bag_of(size, model, seed=0):
    return np.random.default_rng(seed).normal(size=(size, *model.instance_shape_)).astype(np.float32)


def assert_same(model):
    """One bag through the graph, against the library's own path for many."""
    graph = OneBag(model)
    for size in SIZES:
        instances = bag_of(size, model)
        with torch.no_grad(), unchecked():
            probabilities, weights = graph(torch.from_numpy(instances))
        np.testing.assert_allclose(probabilities.numpy(), model.predict_proba([instances])[0], atol=1e-6)
        np.testing.assert_allclose(weights.numpy(), model.weigh([instances]), atol=1e-6)
        assert weights.sum().item() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("level", ["embedding", "instance"])
@pytest.mark.parametrize("pooling", sorted(POOLINGS))
def test_every_pooling_gives_what_the_library_gives(needles, pooling, level):
    if level == "embedding" and issubclass(POOLINGS[pooling], ProbabilityPooling):
        pytest.skip("probabilities are no embeddings")
    assert_same(fitted(needles, pooling=pooling, level=level))


def test_heads_connections_temperatures_and_several_classes_are_inside(needles):
    assert_same(fitted(needles, heads=3))
    assert_same(fitted(needles, pooling="mean", connections="deep supervision"))
    assert_same(fitted(needles, validation=0.4, temperature=True))
    several = needles.replace(labels=np.arange(12) % 3)
    assert_same(fitted(several))


def test_the_offsets_of_a_bag_of_unknown_size_are_like_any(needles):
    values = torch.from_numpy(bag_of(5, fitted(needles)))
    known = torch.tensor([0, 5])
    with unchecked():
        ends = Ends(5)
        assert (len(ends), ends[0], ends[-1], ends.diff().tolist()) == (2, 0, 5, [5])
        torch.testing.assert_close(spread(values[:1], ends), spread(values[:1], known))
        torch.testing.assert_close(softmax(values, ends), softmax(values, known))
        torch.testing.assert_close(weighted_sum(values, values, ends), weighted_sum(values, values, known))


class Own(Pooling):
    title = "own"

    def forward(self, values, offsets):
        weights = softmax(values[:, :1], offsets)
        return Pooled(weighted_sum(values, weights, offsets), weights)


def test_a_pooling_that_is_no_sum_over_instances_is_refused(needles):
    with pytest.raises(InputError, match=r"Own cannot be exported.*AdditivePooling"):
        OneBag(fitted(needles, pooling=Own(), encoder=nn.Identity()))
