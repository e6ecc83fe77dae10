"""Models with every pooling at every level under every likelihood for which the pooling is defined."""

from itertools import product

import pytest
import torch

from bagwise.nn.bag_model import build_bag_model
from bagwise.nn.pooling.base import PoolingSettings, ProbabilityPooling
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.targets.class_likelihoods import Bernoulli, Categorical

LIKELIHOODS = {"bernoulli": Bernoulli(), "categorical": Categorical(3)}
ALL = list(product(POOLINGS, ("embedding", "instance"), LIKELIHOODS))


def is_sensible(name, level, likelihood):
    return not issubclass(POOLINGS[name], ProbabilityPooling) or (level, likelihood) == ("instance", "bernoulli")


SENSIBLE = [case for case in ALL if is_sensible(*case)]
every = pytest.mark.parametrize("case", SENSIBLE, ids=" ".join)  # a case is (pooling, level, likelihood)


def model_of(case, heads=1, seed=5, shape=(4,), encoder="mlp", dropout=None):
    name, level, likelihood = case
    return build_bag_model(
        shape,
        LIKELIHOODS[likelihood],
        encoder=encoder,
        pooling=name,
        level=level,
        dropout=dropout,
        settings=PoolingSettings(attention_width=6, heads=heads),
        generator=torch.Generator().manual_seed(seed),
    )
