"""Models with every pooling at every level under every likelihood with which it makes sense."""

from itertools import product

import pytest
import torch

from bagwise.likelihoods import Bernoulli, Categorical
from bagwise.models import assemble
from bagwise.pooling import POOLINGS, ProbabilityPooling, Settings

LIKELIHOODS = {"bernoulli": Bernoulli(), "categorical": Categorical(3)}
ALL = list(product(POOLINGS, ("embedding", "instance"), LIKELIHOODS))


def makes_sense(name, level, likelihood):
    return not issubclass(POOLINGS[name], ProbabilityPooling) or (level, likelihood) == ("instance", "bernoulli")


SENSIBLE = [case for case in ALL if makes_sense(*case)]
every = pytest.mark.parametrize("case", SENSIBLE, ids=" ".join)


def model_of(case, heads=1, seed=5, shape=(4,), encoder="mlp", dropout=None):
    name, level, likelihood = case
    return assemble(
        shape,
        LIKELIHOODS[likelihood],
        encoder=encoder,
        pooling=name,
        level=level,
        dropout=dropout,
        settings=Settings(attention_width=6, heads=heads),
        generator=torch.Generator().manual_seed(seed),
    )
