import copy

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.dropout import Dropout
from bagwise.nn.encoders import lenet, nucleus_cnn
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.pooling.linear import Mean
from bagwise.nn.pooling.maximum import Max
from bagwise.nn.preprocessing import Preprocessing, Scaling
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.engines.fused.compatibility import UnsupportedModelError, decompose_model
from contexts import AddedMean
from fused_problems import problem


def make_model(*layers, pooling=None, head=None):
    return arrange_embedding_level(nn.Sequential(nn.Flatten(), *layers), pooling or Mean(), head or nn.Linear(4, 1))


def make_hooked_model():
    model = make_model(nn.Linear(5, 4), nn.ReLU())
    model.head.register_forward_hook(lambda *_: None)
    return model


def make_frozen_model():
    model = make_model(nn.Linear(5, 4), nn.ReLU())
    model.head.weight.requires_grad = False
    return model


def make_tied_model():
    model = make_model(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU())
    model.encoder[3].weight = model.encoder[1].weight
    return model


def make_preprocessing(shape):
    return Preprocessing(shape, Scaling(np.zeros(1), np.ones(1)))


def make_cnn(*layers):
    encoder = nn.Sequential(make_preprocessing((4, 4)), *layers, nn.Flatten())
    return arrange_embedding_level(encoder, Mean(), nn.Linear(4, 1))


class CustomLinear(nn.Linear):
    """A subclass of a supported module, which may compute something else."""


SHARED = Dropout(0.5)
UNSUPPORTED = {
    "not followed by ReLU": lambda: make_model(nn.Linear(5, 4), nn.Tanh()),
    "does not support Dropout": lambda: make_model(nn.Linear(5, 4), nn.ReLU(), nn.Dropout(0.5)),
    "does not support CustomLinear": lambda: make_model(CustomLinear(5, 4), nn.ReLU()),
    "layer or convolution has no bias": lambda: make_model(nn.Linear(5, 4, bias=False), nn.ReLU()),
    "2 heads": lambda: make_model(nn.Linear(5, 4), nn.ReLU(), pooling=Attention(4, 3, heads=2), head=nn.Linear(8, 1)),
    "hooks": make_hooked_model,
    "frozen": make_frozen_model,
    "shared": make_tied_model,
    "used more than once": lambda: make_model(nn.Linear(5, 4), nn.ReLU(), SHARED, nn.Linear(4, 4), nn.ReLU(), SHARED),
    "does not support Sequential": lambda: make_model(nn.Linear(5, 4), nn.ReLU(), head=nn.Sequential(nn.Linear(4, 1))),
    "the model is a Linear, not a BagModel": lambda: nn.Linear(5, 1),
    "not float32 or float64": lambda: make_model(nn.Linear(5, 4), nn.ReLU()).bfloat16(),
    "does not flatten": lambda: arrange_embedding_level(
        nn.Sequential(nn.Linear(5, 4), nn.ReLU()), Max(), nn.Linear(4, 1)
    ),
    "not followed by max pooling and ReLU": lambda: make_cnn(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2)),
    "windows of 2 × 2": lambda: make_cnn(nn.Conv2d(1, 4, 3), nn.MaxPool2d(3), nn.ReLU()),
    "without padding, dilation and ceil_mode": lambda: make_cnn(
        nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, ceil_mode=True), nn.ReLU()
    ),
    "padding": lambda: make_cnn(nn.Conv2d(1, 4, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()),
    "strides": lambda: make_cnn(nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2), nn.ReLU()),
    "groups": lambda: make_cnn(nn.Conv2d(2, 4, 3, groups=2), nn.MaxPool2d(2), nn.ReLU()),
    "not square": lambda: make_cnn(nn.Conv2d(1, 4, (3, 2)), nn.MaxPool2d(2), nn.ReLU()),
    "the model has a context": lambda: arrange_embedding_level(
        nn.Sequential(nn.Flatten(), nn.Linear(5, 4), nn.ReLU()), Mean(), nn.Linear(4, 1), AddedMean(4)
    ),
    "no preprocessing": lambda: arrange_embedding_level(lenet((1, 28, 28)), Mean(), nn.Linear(500, 1)),
    "convolution has no bias": lambda: make_cnn(nn.Conv2d(1, 4, 3, bias=False), nn.MaxPool2d(2), nn.ReLU()),
}


@pytest.mark.parametrize("reason", UNSUPPORTED)
def test_decompose_model_rejects_an_unsupported_model_and_states_the_reason(reason):
    with pytest.raises(UnsupportedModelError, match=reason):
        decompose_model(UNSUPPORTED[reason](), Bernoulli())


class CustomBernoulli(Bernoulli):
    """A subclass of a supported likelihood, which may compute another loss."""

    name = "custom"


def test_decompose_model_names_an_unsupported_likelihood():
    with pytest.raises(UnsupportedModelError, match="does not support the likelihood 'custom'"):
        decompose_model(make_model(nn.Linear(5, 4), nn.ReLU()), CustomBernoulli())


def test_decompose_model_returns_the_parts_and_leaves_the_model_unchanged():
    given = problem(pooling="gated attention", level="instance", dtype=torch.float32)
    before = copy.deepcopy(given.model.state_dict())
    parts = decompose_model(given.model, given.likelihood)
    assert [layer.linear.out_features for layer in parts.layers] == [16, 12, 9]
    assert parts.preprocessing is given.model.encoder[0]
    assert parts.classifier is given.model.pooling.classifier
    assert parts.head is None
    assert all(torch.equal(value, before[name]) for name, value in given.model.state_dict().items())


def test_decompose_model_supports_an_encoder_without_layers():
    parts = decompose_model(problem(encoder="identity", dropout=0.3).model, Bernoulli())
    assert [(layer.linear, layer.dropout.p) for layer in parts.layers] == [(None, 0.3)]


@pytest.mark.parametrize(
    ("encoder", "width", "n_layers"), [(lenet((1, 28, 28)), 500, 1), (nucleus_cnn((3, 27, 27)), 512, 2)]
)
def test_decompose_model_supports_the_image_encoders(encoder, width, n_layers):
    encoder = nn.Sequential(make_preprocessing((28, 28)), encoder)
    parts = decompose_model(arrange_embedding_level(encoder, Mean(), nn.Linear(width, 1)), Bernoulli())
    assert [type(part) for part in parts.convolutions] == [nn.Conv2d, nn.Conv2d]
    assert len(parts.layers) == n_layers
