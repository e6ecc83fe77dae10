"""Models that the fused engine supports: a model is split into its parts, or rejected with a reason.

Encoder: optional augmentation and preprocessing, optional stages of convolution, max pooling and ReLU, then optional
dense layers with ReLU and dropout. Convolutions need preprocessing. Pooling: mean, max, attention or gated attention
with one head, at either level. Head: linear, or one of the connections. No context.

This module does not import Numba, because it is also used if Numba is not installed.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from bagwise.nn import Augmentation, BagModel, DeepSupervision, Dropout, LayeredEncoder, Preprocessing, Residual
from bagwise.nn.pooling import AttendedScores, Attention, GatedAttention, Max, Mean, MeanProbability
from bagwise.targets import Bernoulli, Categorical, Likelihood, Supervised


class UnsupportedModelError(Exception):
    """Exception raised when the fused engine does not support a model; the message states the reason."""


class DenseLayer(NamedTuple):
    """A dense layer followed by ReLU and dropout; if ``linear`` is None, dropout is applied to the input."""

    linear: nn.Linear | None
    dropout: Dropout | None


class ModelParts(NamedTuple):
    """Parts of a supported model."""

    augmentations: list[Augmentation]  # applied to stored instances
    preprocessing: Preprocessing | None
    convolutions: list[nn.Conv2d]  # each followed by max pooling and ReLU
    layers: list[DenseLayer]
    connected: bool  # whether the outputs of all layers are pooled
    pooling: Mean | Max | MeanProbability | Attention | GatedAttention
    classifier: nn.Linear | None  # of instances; None at embedding level
    head: nn.Linear | DeepSupervision | Residual | None  # of bags; None at instance level


def decompose_model(model: nn.Module, likelihood: Likelihood) -> ModelParts:
    """Split a model into the parts that the kernels implement.

    Parameters
    ----------
    model : nn.Module
        Model to train; it is not changed.
    likelihood : Likelihood
        Likelihood of its scores.

    Returns
    -------
    ModelParts
        Modules of the model.

    Raises
    ------
    UnsupportedModelError
        If the fused engine does not support the model.
    """
    if type(model) is not BagModel:
        raise UnsupportedModelError(f"the model is a {type(model).__name__}, not a BagModel")
    if model.mixes_instances:
        raise UnsupportedModelError("the model has a context")
    _check_parameters(model)
    each = likelihood.each if isinstance(likelihood, Supervised) else likelihood
    if type(each) not in (Bernoulli, Categorical):
        raise UnsupportedModelError(f"the fused engine does not support the likelihood '{each.name}'")
    leaves: list[Any] = list(_iterate_leaves(model.encoder))
    pooling, classifier, head = model.pooling, None, None
    if type(pooling) is AttendedScores:
        pooling, classifier = pooling.attention, _check_type(pooling.classifier, nn.Linear)
    elif type(model.head) is nn.Identity:
        classifier = _check_type(leaves.pop(), nn.Linear)
    else:
        head = _check_type(model.head, nn.Linear, DeepSupervision, Residual)
    pooling = _check_type(pooling, Mean, MeanProbability, Max, Attention, GatedAttention)
    if getattr(pooling, "heads", 1) != 1:
        raise UnsupportedModelError(f"the attention has {pooling.heads} heads, but the fused engine supports only one")
    augmentations = []
    while leaves and isinstance(leaves[0], Augmentation):
        augmentations.append(leaves.pop(0))
    preprocessing = leaves.pop(0) if leaves and type(leaves[0]) is Preprocessing else None
    convolutions = _take_convolutions(leaves)
    if convolutions and preprocessing is None:
        raise UnsupportedModelError("the encoder has no preprocessing before its convolutions")
    connected = len(leaves) == 1 and type(leaves[0]) is LayeredEncoder
    parts = ModelParts(
        augmentations=augmentations,
        preprocessing=preprocessing,
        convolutions=convolutions,
        layers=_split_layered_encoder(leaves[0]) if connected else _split_layers(leaves),
        connected=connected,
        pooling=pooling,
        classifier=classifier,
        head=head,
    )
    _check_parts(parts, model)
    return parts


def _check_parameters(model: nn.Module) -> None:
    parameters = list(model.parameters())
    if {parameter.dtype for parameter in parameters} not in ({torch.float32}, {torch.float64}):
        raise UnsupportedModelError("the weights are not float32 or float64")
    if not all(parameter.requires_grad for parameter in parameters):
        raise UnsupportedModelError("some weights are frozen")
    if any(part._forward_hooks or part._forward_pre_hooks or part._backward_hooks for part in model.modules()):
        raise UnsupportedModelError("the model has hooks")


def _iterate_leaves(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the modules of nested ``nn.Sequential`` containers in order."""
    if type(module) is not nn.Sequential:
        yield module
        return
    for part in module:
        yield from _iterate_leaves(part)


def _check_type(part: Any, *supported: type) -> Any:
    """Return the part if its type is supported; subclasses are rejected, because they may compute something else."""
    if type(part) not in supported:
        raise UnsupportedModelError(f"the fused engine does not support {type(part).__name__}")
    return part


def _take_convolutions(leaves: list[Any]) -> list[nn.Conv2d]:
    """Remove convolutions, each followed by max pooling and ReLU, from the start of the list and return them."""
    convolutions = []
    while leaves and type(leaves[0]) is nn.Conv2d:
        convolution, *following = leaves[:3]
        if [type(part) for part in following] != [nn.MaxPool2d, nn.ReLU]:
            raise UnsupportedModelError("a convolution of the encoder is not followed by max pooling and ReLU")
        _check_max_pooling(following[0])
        _check_convolution(convolution)
        convolutions.append(convolution)
        del leaves[:3]
    return convolutions


def _check_max_pooling(pooling: nn.MaxPool2d) -> None:
    halves = (pooling.kernel_size, pooling.stride) in ((2, 2), ((2, 2), (2, 2)))
    if not halves or pooling.padding not in (0, (0, 0)) or pooling.dilation not in (1, (1, 1)) or pooling.ceil_mode:
        raise UnsupportedModelError(
            "a max pooling of the encoder does not use windows of 2 × 2 without padding, dilation and ceil_mode"
        )


def _check_convolution(convolution: nn.Conv2d) -> None:
    plain = convolution.stride == (1, 1) == convolution.dilation and convolution.groups == 1
    if not plain or convolution.padding not in ((0, 0), "valid"):
        raise UnsupportedModelError("a convolution of the encoder has strides, padding, dilation or groups")
    if convolution.kernel_size[0] != convolution.kernel_size[1]:
        raise UnsupportedModelError("a convolution of the encoder has a kernel that is not square")


def _split_layered_encoder(module: Any) -> list[DenseLayer]:
    return [
        DenseLayer(_check_type(linear, nn.Linear), _check_type(dropout, Dropout))
        for linear, _, dropout in module.layers
    ]


def _split_layers(leaves: list[Any]) -> list[DenseLayer]:
    """Split Flatten followed by repetitions of (Linear, ReLU, optional Dropout), or by an optional Dropout only."""
    if not leaves or type(leaves[0]) is not nn.Flatten:
        raise UnsupportedModelError("the encoder does not flatten the instances before its dense layers")
    rest, layers = leaves[1:], []
    if len(rest) <= 1:
        return [DenseLayer(None, _check_type(rest[0], Dropout) if rest else None)]
    while rest:
        linear = _check_type(rest.pop(0), nn.Linear)
        if not rest or type(rest.pop(0)) is not nn.ReLU:
            raise UnsupportedModelError("a dense layer of the encoder is not followed by ReLU")
        layers.append(DenseLayer(linear, rest.pop(0) if rest and type(rest[0]) is Dropout else None))
    return layers


def _check_parts(parts: ModelParts, model: nn.Module) -> None:
    """Reject layers without bias, modules that are used twice, and parameters that do not belong to any part."""
    layers: list[Any] = [*parts.convolutions, *(layer.linear for layer in parts.layers if layer.linear is not None)]
    heads = [parts.classifier] if parts.head is None else [m for m in parts.head.modules() if type(m) is nn.Linear]
    if any(layer is None or layer.bias is None for layer in [*layers, *heads]):
        raise UnsupportedModelError("a linear layer or convolution has no bias")
    dropouts = [layer.dropout for layer in parts.layers if layer.dropout is not None]
    known = [*layers, *heads, *dropouts, parts.pooling]
    if len({id(part) for part in known}) != len(known):
        raise UnsupportedModelError("a module is used more than once")
    parameters = [parameter for part in known if part is not None for parameter in part.parameters()]
    if len(parameters) != len({id(p) for p in parameters}) or len(parameters) != len(list(model.parameters())):
        raise UnsupportedModelError("some weights are shared, or belong to an unsupported module")
