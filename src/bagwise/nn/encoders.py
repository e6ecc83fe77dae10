"""Encoders f, which map each instance to its embedding.

Three networks from the appendix of Ilse et al. (2018):

    mlp          fc-256, fc-128, fc-64, each with ReLU and dropout              (classical data sets)
    lenet        conv5-20, pool, conv5-50, pool, fc-500, ReLU                    (MNIST-bags, LeNet-5)
    nucleus_cnn  conv4-36, pool, conv3-48, pool, fc-512, fc-512 with dropout     (histopathology)

and one that is common for slide features extracted by a large network:

    projection   fc-512 with ReLU and dropout                                    (CLAM, Lu et al. 2021)

ReLU and max pooling commute. ReLU is applied after max pooling, where it processes a quarter of the values. Any
``nn.Module`` that maps instances of shape (n, …) to embeddings of shape (n, width) can be used as an encoder.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.dropout import Dropout

Shape = tuple[int, ...]

MIN_CONV_SIDE = 16  # pixels


def mlp(shape: Shape, widths: Sequence[int] = (256, 128, 64), dropout: float = 0.5) -> nn.Sequential:
    """Build fully connected layers with ReLU and dropout; images are flattened.

    Parameters
    ----------
    shape : tuple of int
        Shape of one instance as the encoder receives it.
    widths : sequence of int, default=(256, 128, 64)
        Width of each layer.
    dropout : float, default=0.5
        Dropout probability after each layer.

    Returns
    -------
    nn.Sequential
        Encoder with embeddings of width ``widths[-1]``.

    Examples
    --------
    >>> mlp((166,))(torch.zeros(2, 166)).shape
    torch.Size([2, 64])
    """
    layers: list[nn.Module] = [nn.Flatten()]
    for inputs, outputs in pairwise([_count_values(shape), *widths]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*layers)


def lenet(shape: Shape, dropout: float = 0.0) -> nn.Sequential:
    """Build the LeNet-5 network of Ilse et al. (2018), which has no dropout by default.

    >>> lenet((1, 28, 28))(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 500])
    """
    channels = _get_channels(shape, "lenet")
    features = [
        *(nn.Conv2d(channels, 20, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
    ]
    return nn.Sequential(*features, nn.Linear(_measure_width(features, shape), 500), nn.ReLU(), Dropout(dropout))


def nucleus_cnn(shape: Shape, dropout: float = 0.5) -> nn.Sequential:
    """Build the histopathology network of Ilse et al. (2018), after Sirinukunwattana et al. (2016).

    >>> nucleus_cnn((3, 27, 27))(torch.zeros(2, 3, 27, 27)).shape
    torch.Size([2, 512])
    """
    channels = _get_channels(shape, "nucleus cnn")
    features = [
        *(nn.Conv2d(channels, 36, 4), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(36, 48, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
    ]
    first = [nn.Linear(_measure_width(features, shape), 512), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*features, *first, nn.Linear(512, 512), nn.ReLU(), Dropout(dropout))


def projection(shape: Shape, dropout: float = 0.25) -> nn.Sequential:
    """Build one fully connected layer, for features extracted by a large network.

    >>> projection((1024,))(torch.zeros(2, 1024)).shape
    torch.Size([2, 512])
    """
    return mlp(shape, widths=(512,), dropout=dropout)


def identity(shape: Shape, dropout: float = 0.0) -> nn.Sequential:
    """Build an encoder that only flattens instances and applies dropout, for features that need no other processing."""
    return nn.Sequential(nn.Flatten(), Dropout(dropout))


ENCODERS: dict[str, Callable[..., nn.Sequential]] = {
    "mlp": mlp,
    "lenet": lenet,
    "nucleus cnn": nucleus_cnn,
    "projection": projection,
    "identity": identity,
}


def choose_encoder(shape: Shape) -> str:
    """Choose the encoder for "auto": lenet for images of at least 16 × 16 pixels, else mlp.

    Parameters
    ----------
    shape : tuple of int
        Shape of one instance as the encoder receives it.

    Returns
    -------
    str
        Name of the encoder.

    Examples
    --------
    >>> choose_encoder((166,)), choose_encoder((1, 8, 8)), choose_encoder((3, 27, 27))
    ('mlp', 'mlp', 'lenet')
    """
    return "lenet" if len(shape) == 3 and min(shape[1:]) >= MIN_CONV_SIDE else "mlp"


def initialize_weights(module: nn.Module, generator: torch.Generator) -> None:
    """Initialise linear and convolution layers as in Ilse et al. (2018): Glorot uniform weights, zero biases.

    Parameters
    ----------
    module : nn.Module
        Module to initialise in place.
    generator : torch.Generator
        Random number generator.

    References
    ----------
    Glorot & Bengio (2010), "Understanding the difficulty of training deep feedforward neural networks".
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def _get_channels(shape: Shape, name: str) -> int:
    """Return the number of channels, or raise ``InputError`` if the instances are not images of sufficient size."""
    if len(shape) != 3 or min(shape[1:]) < MIN_CONV_SIDE:
        raise InputError(
            f"encoder '{name}' needs images of at least {MIN_CONV_SIDE}×{MIN_CONV_SIDE} pixels, "
            f"got instances of shape {'×'.join(map(str, shape))}; use encoder='mlp'"
        )
    return shape[0]


def _measure_width(layers: Sequence[nn.Module], shape: Shape) -> int:
    with torch.no_grad():
        return nn.Sequential(*layers)(torch.zeros(1, *shape)).shape[1]


def _count_values(shape: Shape) -> int:
    return int(torch.Size(shape).numel())
