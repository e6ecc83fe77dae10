"""A trained network as a function of one bag, of whatever size: what is exported.

    instances (K, …) → probabilities (C,), weights (K,)

The poolings are computed by the same terms and totals as a bag in pieces (``pooling.additive``), so there is no
second transcription of any equation. Preparation, likelihood and temperature are inside.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.pooling import AdditivePooling
from bagwise.segments import Offsets


class Ends:
    """Stands for the offsets of one bag while its size is but a symbol: as much of them as ``segments`` asks for."""

    def __init__(self, size: Any) -> None:
        self._size = size

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> Any:
        return {0: 0, -1: self._size}[place]

    def diff(self) -> Tensor:
        return torch.ones(self._size, dtype=torch.int64).sum(dim=0, keepdim=True)


class OneBag(nn.Module):
    """The network of a fitted ``BagClassifier``, for one bag at a time."""

    def __init__(self, estimator: BagClassifier) -> None:
        super().__init__()
        self.model = estimator.model_.cpu().eval()
        self.likelihood = estimator.likelihood_
        self.temperature = estimator.adjustment_.temperature
        pooling = self.model.pooling
        if not isinstance(pooling, AdditivePooling):
            raise InputError(
                f"the pooling {type(pooling).__name__} cannot be exported, because it is not written as sums over "
                "instances; derive it from bagwise.pooling.AdditivePooling"
            )
        self.pooling = pooling

    def forward(self, instances: Tensor) -> tuple[Tensor, Tensor]:
        offsets = cast(Offsets, Ends(instances.shape[0]))
        pooled = AdditivePooling.forward(self.pooling, self.model.encoder(instances), offsets)
        logarithms = self.likelihood.log_probabilities(self.model.head(pooled.values).double())
        probabilities = torch.softmax(logarithms / self.temperature, dim=1)
        return probabilities[0].float(), pooled.weights.mean(dim=1)
