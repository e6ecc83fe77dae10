"""Tests that the encoders are the networks in the appendix of Ilse et al. (2018)."""

import math

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.dropout import Dropout
from bagwise.nn.encoders import ENCODERS, choose_encoder, identity, initialize_weights, lenet, mlp, nucleus_cnn


def describe_layers(encoder):
    """Return the layers in the notation of the appendix."""
    layers = []
    for layer in encoder:
        if isinstance(layer, nn.Linear):
            layers.append(f"fc-{layer.out_features}")
        elif isinstance(layer, nn.Conv2d):
            assert layer.kernel_size[0] == layer.kernel_size[1]
            layers.append(f"conv({layer.kernel_size[0]},{layer.stride[0]},{layer.padding[0]})-{layer.out_channels}")
        elif isinstance(layer, nn.MaxPool2d):
            layers.append(f"maxpool({layer.kernel_size},{layer.stride})")
        elif isinstance(layer, Dropout) and layer.p:
            layers.append(f"dropout {layer.p}")
        elif isinstance(layer, nn.ReLU):
            layers[-1] += " + ReLU"
    return layers


def count_parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_mlp_is_the_network_of_the_paper_for_classical_data_sets():
    encoder = mlp((166,))
    assert describe_layers(encoder) == [
        *("fc-256 + ReLU", "dropout 0.5"),
        *("fc-128 + ReLU", "dropout 0.5"),
        *("fc-64 + ReLU", "dropout 0.5"),
    ]
    assert count_parameters(encoder) == (166 * 256 + 256) + (256 * 128 + 128) + (128 * 64 + 64)


def test_lenet_is_the_network_of_the_paper_for_mnist_bags():
    encoder = lenet((1, 28, 28))
    layers = ["conv(5,1,0)-20", "maxpool(2,2) + ReLU", "conv(5,1,0)-50", "maxpool(2,2) + ReLU", "fc-500 + ReLU"]
    assert describe_layers(encoder) == layers
    assert count_parameters(encoder) == (25 * 20 + 20) + (25 * 20 * 50 + 50) + (4 * 4 * 50 * 500 + 500)


def test_nucleus_cnn_is_the_network_of_the_paper_for_histopathology():
    encoder = nucleus_cnn((3, 27, 27))
    assert describe_layers(encoder) == [
        *("conv(4,1,0)-36", "maxpool(2,2) + ReLU", "conv(3,1,0)-48", "maxpool(2,2) + ReLU"),
        *("fc-512 + ReLU", "dropout 0.5", "fc-512 + ReLU", "dropout 0.5"),
    ]
    assert count_parameters(encoder) == (16 * 3 * 36 + 36) + (9 * 36 * 48 + 48) + (5 * 5 * 48 * 512 + 512) + (
        512 * 512 + 512
    )


def test_lenet_with_max_pooling_before_relu_equals_relu_before_max_pooling():
    encoder = lenet((1, 28, 28)).double()
    first, second, last = (layer for layer in encoder if isinstance(layer, nn.Conv2d | nn.Linear))
    appendix = nn.Sequential(
        *(first, nn.ReLU(), nn.MaxPool2d(2), second, nn.ReLU(), nn.MaxPool2d(2)), nn.Flatten(), last, nn.ReLU()
    )
    images = torch.randn(3, 1, 28, 28, dtype=torch.float64)
    gradients = [
        torch.autograd.grad(each(images).square().sum(), list(encoder.parameters())) for each in (encoder, appendix)
    ]
    assert torch.equal(encoder(images), appendix(images))
    for own, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(own, expected, rtol=1e-12, atol=1e-12)


def test_mlp_matches_its_formula():
    encoder = mlp((3,), widths=(4, 2)).double().eval()
    first, second = (layer for layer in encoder if isinstance(layer, nn.Linear))
    x = torch.randn(5, 3, dtype=torch.float64)
    hidden = (x @ first.weight.T + first.bias).clamp(min=0)
    torch.testing.assert_close(encoder(x), (hidden @ second.weight.T + second.bias).clamp(min=0))


def test_mlp_flattens_images():
    encoder = mlp((2, 3, 3)).eval()
    images = torch.randn(4, 2, 3, 3)
    torch.testing.assert_close(encoder(images), encoder(images.flatten(1)))


def test_identity_returns_the_instances():
    instances = torch.randn(4, 7)
    assert torch.equal(identity((7,))(instances), instances)


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_use_the_given_dropout_in_every_layer(name):
    encoder = ENCODERS[name]((1, 28, 28), dropout=0.25)
    assert {layer.p for layer in encoder.modules() if isinstance(layer, Dropout)} == {0.25}


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_encode_each_instance_separately(name):
    encoder, images = ENCODERS[name]((3, 20, 24)).double().eval(), torch.randn(4, 3, 20, 24, dtype=torch.float64)
    one_by_one = torch.cat([encoder(images[[row]]) for row in range(4)])
    torch.testing.assert_close(encoder(images), one_by_one)


@pytest.mark.parametrize("encoder", [mlp((50,)), lenet((1, 28, 28)), nucleus_cnn((3, 27, 27))])
def test_initialize_weights_uses_glorot_uniform_weights_and_zero_biases(encoder):
    initialize_weights(encoder, torch.Generator().manual_seed(5))
    for layer in encoder.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            window = layer.weight[0, 0].numel()
            fans = (layer.weight.shape[0] + layer.weight.shape[1]) * window
            bound = math.sqrt(6 / fans)
            assert 0.98 * bound < layer.weight.abs().max() <= bound
            n_weights = layer.weight.numel()
            assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=5 / math.sqrt(n_weights))
            assert not layer.bias.any()


def test_initialize_weights_accepts_layers_without_bias():
    layer = nn.Linear(3, 2, bias=False)
    before = layer.weight.clone()
    initialize_weights(layer, torch.Generator().manual_seed(5))
    assert not torch.equal(layer.weight, before)


@pytest.mark.parametrize("name", ["mlp", "lenet", "nucleus cnn"])
def test_initialize_weights_depends_on_the_generator_only(name):
    def weights(seed, noise):
        torch.manual_seed(noise)
        encoder = ENCODERS[name]((1, 28, 28))
        initialize_weights(encoder, torch.Generator().manual_seed(seed))
        return torch.cat([parameter.ravel() for parameter in encoder.parameters()])

    assert torch.equal(weights(5, noise=0), weights(5, noise=1))
    assert not torch.equal(weights(5, noise=0), weights(6, noise=0))


@pytest.mark.parametrize("name", ["lenet", "nucleus cnn"])
@pytest.mark.parametrize("shape", [(1, 15, 28), (3, 28, 15), (3, 8, 8), (166,)])
def test_lenet_and_nucleus_cnn_reject_vectors_and_images_that_are_too_small(name, shape):
    sizes = "×".join(map(str, shape))
    with pytest.raises(
        InputError,
        match=f"'{name}' needs images of at least 16×16 pixels, got instances of shape {sizes}; use encoder='mlp'",
    ):
        ENCODERS[name](shape)


@pytest.mark.parametrize("name", ["lenet", "nucleus cnn"])
def test_lenet_and_nucleus_cnn_accept_the_smallest_images(name):
    assert ENCODERS[name]((1, 16, 16)).eval()(torch.ones(2, 1, 16, 16)).isfinite().all()


@pytest.mark.parametrize(("shape", "name"), [((5,), "mlp"), ((1, 15, 40), "mlp"), ((1, 16, 16), "lenet")])
def test_choose_encoder_uses_convolutions_for_images_that_are_large_enough(shape, name):
    assert choose_encoder(shape) == name
