import copy

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.dropout import Dropout
from bagwise.encoders import lenet, nucleus_cnn
from bagwise.inputs import Prepare, Scaling
from bagwise.likelihoods import Bernoulli
from bagwise.models import embedding_level
from bagwise.pooling import Attention, Max, Mean
from bagwise.training.fused.reach import OutOfReach, take_apart
from fused_problems import problem


def model(*layers, pooling=None, head=None):
    return embedding_level(nn.Sequential(nn.Flatten(), *layers), pooling or Mean(), head or nn.Linear(4, 1))


def hooked():
    found = model(nn.Linear(5, 4), nn.ReLU())
    found.head.register_forward_hook(lambda *_: None)
    return found


def frozen():
    found = model(nn.Linear(5, 4), nn.ReLU())
    found.head.weight.requires_grad = False
    return found


def tied():
    found = model(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU())
    found.encoder[3].weight = found.encoder[1].weight
    return found


def prepared(shape):
    return Prepare(shape, Scaling(np.zeros(1), np.ones(1)))


def convolved(*layers):
    return embedding_level(nn.Sequential(prepared((4, 4)), *layers, nn.Flatten()), Mean(), nn.Linear(4, 1))


class OwnLinear(nn.Linear):
    """Derived from a known part, and free to do something else."""


SHARED = Dropout(0.5)
OUTSIDE = {
    "Tanh is not|no ReLU": lambda: model(nn.Linear(5, 4), nn.Tanh()),
    "nn.Dropout|Dropout is not among": lambda: model(nn.Linear(5, 4), nn.ReLU(), nn.Dropout(0.5)),
    "OwnLinear is not among its parts": lambda: model(OwnLinear(5, 4), nn.ReLU()),
    "no bias": lambda: model(nn.Linear(5, 4, bias=False), nn.ReLU()),
    "2 heads": lambda: model(nn.Linear(5, 4), nn.ReLU(), pooling=Attention(4, 3, heads=2), head=nn.Linear(8, 1)),
    "hooks": hooked,
    "frozen": frozen,
    "shared": tied,
    "two places": lambda: model(nn.Linear(5, 4), nn.ReLU(), SHARED, nn.Linear(4, 4), nn.ReLU(), SHARED),
    "Sequential is not": lambda: model(nn.Linear(5, 4), nn.ReLU(), head=nn.Sequential(nn.Linear(4, 1))),
    "not one of bagwise's models": lambda: nn.Linear(5, 1),
    "not float32": lambda: model(nn.Linear(5, 4), nn.ReLU()).bfloat16(),
    "flat row": lambda: embedding_level(nn.Sequential(nn.Linear(5, 4), nn.ReLU()), Max(), nn.Linear(4, 1)),
    "not followed by max pooling and ReLU": lambda: convolved(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2)),
    "windows of 2 × 2": lambda: convolved(nn.Conv2d(1, 4, 3), nn.MaxPool2d(3), nn.ReLU()),
    "2 × 2": lambda: convolved(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, ceil_mode=True), nn.ReLU()),
    "padding": lambda: convolved(nn.Conv2d(1, 4, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()),
    "strides": lambda: convolved(nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2), nn.ReLU()),
    "groups": lambda: convolved(nn.Conv2d(2, 4, 3, groups=2), nn.MaxPool2d(2), nn.ReLU()),
    "not square": lambda: convolved(nn.Conv2d(1, 4, (3, 2)), nn.MaxPool2d(2), nn.ReLU()),
    "not prepared": lambda: embedding_level(lenet((1, 28, 28)), Mean(), nn.Linear(500, 1)),
    "convolution of it has no bias": lambda: convolved(nn.Conv2d(1, 4, 3, bias=False), nn.MaxPool2d(2), nn.ReLU()),
}


@pytest.mark.parametrize("reason", OUTSIDE)
def test_what_is_out_of_reach_is_refused_with_the_reason(reason):
    with pytest.raises(OutOfReach, match=reason):
        take_apart(OUTSIDE[reason](), Bernoulli())


def test_a_model_within_reach_is_taken_into_its_parts_and_not_changed():
    given = problem(pooling="gated attention", level="instance", dtype=torch.float32)
    before = copy.deepcopy(given.model.state_dict())
    parts = take_apart(given.model, given.likelihood)
    assert [layer.linear.out_features for layer in parts.layers] == [16, 12, 9]
    assert parts.prepare is given.model.encoder[0]
    assert parts.classifier is given.model.pooling.classifier
    assert parts.head is None
    assert all(torch.equal(value, before[name]) for name, value in given.model.state_dict().items())


def test_an_encoder_without_layers_is_within_reach():
    parts = take_apart(problem(encoder="identity", dropout=0.3).model, Bernoulli())
    assert [(layer.linear, layer.dropout.p) for layer in parts.layers] == [(None, 0.3)]


@pytest.mark.parametrize(
    ("encoder", "width", "n_layers"), [(lenet((1, 28, 28)), 500, 1), (nucleus_cnn((3, 27, 27)), 512, 2)]
)
def test_the_encoders_of_images_are_within_reach(encoder, width, n_layers):
    encoder = nn.Sequential(prepared((28, 28)), encoder)
    parts = take_apart(embedding_level(encoder, Mean(), nn.Linear(width, 1)), Bernoulli())
    assert [type(part) for part in parts.stages] == [nn.Conv2d, nn.Conv2d]
    assert len(parts.layers) == n_layers
