import numpy as np
import pytest
import torch
from torch import nn

from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.network_builder import build_network, make_blank_bags
from bagwise.nn.augmentation import HistologyAugmentation
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.preprocessing import Preprocessing
from bagwise.targets.class_likelihoods import Bernoulli

NEEDLES = load_dataset("needles", n_bags=10)


def make_estimator(seed=0, **parameters):
    estimator = BagClassifier(**parameters)
    estimator.seed_, estimator.likelihood_ = seed, Bernoulli()
    return estimator


def weights_of(model):
    return torch.cat([value.flatten() for value in model.state_dict().values()])


def test_build_network_depends_on_the_seed_and_not_on_the_global_generator():
    torch.manual_seed(1)
    first = weights_of(build_network(make_estimator(), NEEDLES, seed=3))
    torch.manual_seed(2)
    before = torch.get_rng_state()
    assert torch.equal(weights_of(build_network(make_estimator(), NEEDLES, seed=3)), first)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(weights_of(build_network(make_estimator(), NEEDLES, seed=4)), first)


def test_build_network_copies_custom_modules():
    encoder, pooling = nn.Linear(16, 8), Attention(8, 4)
    model = build_network(make_estimator(encoder=encoder, pooling=pooling), NEEDLES, seed=0)
    assert model.encoder[-1] is not encoder
    assert model.pooling is not pooling
    assert torch.equal(model.encoder[-1].weight, encoder.weight)


def test_build_network_puts_augmentation_before_preprocessing_before_the_encoder():
    bags = make_blank_bags((16, 16, 3))
    layers = build_network(make_estimator(augmentation="histology"), bags, seed=0).encoder
    assert [type(layer) for layer in layers[:2]] == [HistologyAugmentation, Preprocessing]
    assert isinstance(build_network(make_estimator(), bags, seed=0).encoder[0], Preprocessing)


@pytest.mark.parametrize("shape", [(7,), (16, 16, 3)], ids=["features", "images"])
def test_make_blank_bags_allows_building_a_network(shape):
    bags = make_blank_bags(shape)
    assert (len(bags), bags.instance_shape) == (1, shape)
    assert not np.any(bags.instances)
    model = build_network(make_estimator(), bags, seed=0)
    assert all(torch.isfinite(value).all() for value in model.state_dict().values())
