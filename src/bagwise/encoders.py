"""Encoders f, which map each instance to its embedding: the three networks of the paper's appendix,

    mlp          fc-256, fc-128, fc-64, each with ReLU and dropout              (classical data sets)
    lenet        conv5-20, pool, conv5-50, pool, fc-500, ReLU                    (MNIST-bags, LeNet-5)
    nucleus_cnn  conv4-36, pool, conv3-48, pool, fc-512, fc-512 with dropout     (histopathology)

and one that is common since, for features of slides that a large network has made:

    projection   fc-512 with ReLU and dropout                                    (CLAM, Lu et al. 2021)

ReLU and max-pooling give the same in either order; it stands second, where it has a quarter of the values to read.
Any ``nn.Module`` that maps (n, …) to (n, width) serves as well.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

from bagwise.dropout import Dropout
from bagwise.errors import InputError

SMALLEST_FOR_CONVOLUTIONS = 16

Shape = tuple[int, ...]


def mlp(shape: Shape, widths: Sequence[int] = (256, 128, 64), dropout: float = 0.5) -> nn.Sequential:
    """Fully connected layers with ReLU and dropout; images are flattened.

    >>> mlp((166,))(torch.zeros(2, 166)).shape
    torch.Size([2, 64])
    """
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise([_count(shape), *widths]):
        layers += [nn.Linear(before, after), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*layers)


def lenet(shape: Shape, dropout: float = 0.0) -> nn.Sequential:
    """LeNet-5 as in the appendix, which has no dropout in it.

    >>> lenet((1, 28, 28))(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 500])
    """
    channels = _image(shape, "lenet")
    features = [
        *(nn.Conv2d(channels, 20, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
    ]
    return nn.Sequential(*features, nn.Linear(_width(features, shape), 500), nn.ReLU(), Dropout(dropout))


def nucleus_cnn(shape: Shape, dropout: float = 0.5) -> nn.Sequential:
    """The histopathology network of the appendix (after Sirinukunwattana et al. 2016).

    >>> nucleus_cnn((3, 27, 27))(torch.zeros(2, 3, 27, 27)).shape
    torch.Size([2, 512])
    """
    channels = _image(shape, "nucleus cnn")
    features = [
        *(nn.Conv2d(channels, 36, 4), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(36, 48, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()),
    ]
    first = [nn.Linear(_width(features, shape), 512), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*features, *first, nn.Linear(512, 512), nn.ReLU(), Dropout(dropout))


def projection(shape: Shape, dropout: float = 0.25) -> nn.Sequential:
    """One fully connected layer, for features that were made by a large network.

    >>> projection((1024,))(torch.zeros(2, 1024)).shape
    torch.Size([2, 512])
    """
    return mlp(shape, widths=(512,), dropout=dropout)


def identity(shape: Shape, dropout: float = 0.0) -> nn.Sequential:
    """The instances themselves, for features that need no further processing."""
    return nn.Sequential(nn.Flatten(), Dropout(dropout))


ENCODERS: dict[str, Callable[..., nn.Sequential]] = {
    "mlp": mlp,
    "lenet": lenet,
    "nucleus cnn": nucleus_cnn,
    "projection": projection,
    "identity": identity,
}


def fitting(shape: Shape) -> str:
    """The encoder that "auto" stands for: lenet for images large enough for its convolutions, else mlp.

    >>> fitting((166,)), fitting((1, 8, 8)), fitting((3, 27, 27))
    ('mlp', 'mlp', 'lenet')
    """
    return "lenet" if len(shape) == 3 and min(shape[1:]) >= SMALLEST_FOR_CONVOLUTIONS else "mlp"


def initialize(module: nn.Module, generator: torch.Generator) -> None:
    """Glorot & Bengio (2010) weights and zero biases, as in the paper, for every linear and convolution layer."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def _image(shape: Shape, name: str) -> int:
    if len(shape) != 3 or min(shape[1:]) < SMALLEST_FOR_CONVOLUTIONS:
        raise InputError(
            f"the encoder '{name}' reads images of at least {SMALLEST_FOR_CONVOLUTIONS}×{SMALLEST_FOR_CONVOLUTIONS} "
            f"pixels, and these instances are {'×'.join(map(str, shape))}; use encoder='mlp'"
        )
    return shape[0]


def _width(layers: Sequence[nn.Module], shape: Shape) -> int:
    with torch.no_grad():
        return nn.Sequential(*layers)(torch.zeros(1, *shape)).shape[1]


def _count(shape: Shape) -> int:
    return int(torch.Size(shape).numel())
