"""Connections past the last layer (Wang et al. 2018, MI-Net): the bag's score sees every layer of the encoder.

    deep supervision   each layer is pooled and has a classifier of its own; losses add up, probabilities are averaged
    residual           the pooled layers, of equal width, are summed; one classifier reads the sum

The layers lie side by side as the columns of one embedding. The poolings by column (max, mean …) then pool each layer
by itself, and a head takes the pooled layers apart again: nothing else has to know.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from bagwise.dropout import Dropout
from bagwise.errors import InputError
from bagwise.likelihoods import Likelihood, Supervised


class Layered(nn.Module):
    """Fully connected layers with ReLU and dropout, as in ``mlp``, that give the outputs of all layers side by side.

    >>> Layered(166, [256, 128, 64], dropout=0.5)(torch.zeros(2, 166)).shape
    torch.Size([2, 448])
    """

    def __init__(self, width: int, widths: Sequence[int], dropout: float) -> None:
        super().__init__()
        layers = [
            nn.Sequential(nn.Linear(before, after), nn.ReLU(), Dropout(dropout))
            for before, after in pairwise([width, *widths])
        ]
        self.layers = nn.ModuleList(layers)

    def forward(self, instances: Float[Tensor, "instances ..."]) -> Float[Tensor, "instances width"]:
        values, outputs = instances.flatten(1), []
        for layer in self.layers:
            values = layer(values)
            outputs.append(values)
        return torch.cat(outputs, dim=1)


class Connection(nn.Module, ABC):
    """Base of the heads that read pooled layers side by side."""

    widths: tuple[int, ...]

    @abstractmethod
    def __init__(self, n_scores: int) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        """Scores of the pooled layers."""

    @classmethod
    def likelihood(cls, likelihood: Likelihood) -> Likelihood:
        """What the scores of the head mean, given what one score would."""
        return likelihood


class DeepSupervision(Connection):
    """A classifier a layer, its scores beside those of the others."""

    widths = (256, 128, 64)

    def __init__(self, n_scores: int) -> None:
        super().__init__(n_scores)
        each = n_scores // len(self.widths)
        self.classifiers = nn.ModuleList([nn.Linear(width, each) for width in self.widths])

    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        parts = zip(self.classifiers, pooled.split(self.widths, dim=1), strict=True)
        return torch.cat([classifier(part) for classifier, part in parts], dim=1)

    @classmethod
    def likelihood(cls, likelihood: Likelihood) -> Likelihood:
        return Supervised(likelihood, len(cls.widths))


class Residual(Connection):
    """One classifier of the sum of the pooled layers."""

    widths = (128, 128, 128)

    def __init__(self, n_scores: int) -> None:
        super().__init__(n_scores)
        self.classifier = nn.Linear(self.widths[0], n_scores)

    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        return self.classifier(torch.stack(pooled.split(self.widths, dim=1)).sum(0))


CONNECTIONS: dict[str, type[Connection]] = {"deep supervision": DeepSupervision, "residual": Residual}


def check_connection(encoder: object, level: str, heads: int) -> None:
    """Refuse what layers side by side cannot be combined with."""
    if encoder not in ("auto", "mlp"):
        raise InputError("connections need the layers of the encoder 'mlp'; leave encoder or connections out")
    if level != "embedding":
        raise InputError("connections pool layers, which are embeddings; use level='embedding'")
    if heads != 1:
        raise InputError(f"connections read one pooled value a column, and heads is {heads}; use heads=1")
