"""What a published model consists of, in this library's words."""

from typing import Any, NamedTuple

from torch import Tensor

Layer = dict[str, Tensor]


class Parts(NamedTuple):
    """A model taken apart.

    parameters : of the BagClassifier that has such a network
    layers : the tensors of each layer, by the name it has there
    """

    parameters: dict[str, Any]
    instance_shape: tuple[int, ...]
    n_classes: int
    layers: dict[str, Layer]


def two_class_head(head: Layer) -> Layer:
    """A classifier of two scores as one of their difference, which has the same probabilities; of more, as it is."""
    if head["weight"].shape[0] != 2:
        return head
    return {name: (value[1] - value[0])[None] for name, value in head.items()}
