"""Connections from every layer of the encoder to the score of the bag (MI-Net, Wang et al. 2018).

    deep supervision   each layer is pooled and has its own classifier; losses are added, probabilities are averaged
    residual           the pooled layers, of equal width, are summed; one classifier is applied to the sum

The outputs of the layers are concatenated into one embedding. Poolings that work column by column (max, mean, …) then
pool each layer separately, and the head splits the pooled row into layers again. No other module depends on this.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.nn.dropout import Dropout
from bagwise.targets import Likelihood, Supervised


class LayeredEncoder(nn.Module):
    """Fully connected layers as in ``mlp``, whose outputs are concatenated.

    Parameters
    ----------
    width : int
        Number of values per instance.
    widths : sequence of int
        Width of each layer.
    dropout : float
        Dropout probability after each layer.

    Examples
    --------
    >>> LayeredEncoder(166, [256, 128, 64], dropout=0.5)(torch.zeros(2, 166)).shape
    torch.Size([2, 448])
    """

    def __init__(self, width: int, widths: Sequence[int], dropout: float) -> None:
        super().__init__()
        layers = [
            nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), Dropout(dropout))
            for inputs, outputs in pairwise([width, *widths])
        ]
        self.layers = nn.ModuleList(layers)

    def forward(self, instances: Float[Tensor, "instances ..."]) -> Float[Tensor, "instances width"]:
        values, outputs = instances.flatten(1), []
        for layer in self.layers:
            values = layer(values)
            outputs.append(values)
        return torch.cat(outputs, dim=1)


class Connection(nn.Module, ABC):
    """Abstract base class of heads whose input is the concatenation of the pooled layers.

    Attributes
    ----------
    widths : tuple of int
        Width of each layer.
    """

    widths: tuple[int, ...]

    @abstractmethod
    def __init__(self, n_scores: int) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        """Compute scores from the pooled layers."""

    @classmethod
    def likelihood(cls, likelihood: Likelihood) -> Likelihood:
        """Return the likelihood of the scores of this head, given the likelihood of a single classifier."""
        return likelihood


class DeepSupervision(Connection):
    """One classifier per layer; their scores are concatenated (Wang et al. 2018).

    Parameters
    ----------
    n_scores : int
        Total number of scores of all classifiers.
    """

    widths = (256, 128, 64)

    def __init__(self, n_scores: int) -> None:
        super().__init__(n_scores)
        scores_per_layer = n_scores // len(self.widths)
        self.classifiers = nn.ModuleList([nn.Linear(width, scores_per_layer) for width in self.widths])

    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        layers = zip(self.classifiers, pooled.split(self.widths, dim=1), strict=True)
        return torch.cat([classifier(layer) for classifier, layer in layers], dim=1)

    @classmethod
    def likelihood(cls, likelihood: Likelihood) -> Likelihood:
        return Supervised(likelihood, len(cls.widths))


class Residual(Connection):
    """One classifier, applied to the sum of the pooled layers (Wang et al. 2018).

    Parameters
    ----------
    n_scores : int
        Number of scores.
    """

    widths = (128, 128, 128)

    def __init__(self, n_scores: int) -> None:
        super().__init__(n_scores)
        self.classifier = nn.Linear(self.widths[0], n_scores)

    def forward(self, pooled: Float[Tensor, "bags width"]) -> Float[Tensor, "bags scores"]:
        return self.classifier(torch.stack(pooled.split(self.widths, dim=1)).sum(0))


CONNECTIONS: dict[str, type[Connection]] = {"deep supervision": DeepSupervision, "residual": Residual}


def check_connection(encoder: object, level: str, heads: int, context: object = None) -> None:
    """Raise ``InputError`` for settings that cannot be combined with connections."""
    if encoder not in ("auto", "mlp"):
        raise InputError(
            "connections use the layers of the encoder 'mlp' and cannot be combined with another encoder; "
            "use encoder='mlp' or connections=None"
        )
    if level != "embedding":
        raise InputError(
            f"connections pool layers, which are embeddings, so level='{level}' is not possible; use level='embedding'"
        )
    if heads != 1:
        raise InputError(f"connections need one pooled value per column, got heads={heads}; use heads=1")
    if context is not None:
        raise InputError(
            "connections pool each layer of the encoder separately, and a context would mix the layers; "
            "use context=None or connections=None"
        )
