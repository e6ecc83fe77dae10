"""Which models the fused engine reaches: a model is taken into its parts, or the reason is given why it is not.

Encoder: augmentation, or none, standardisation, then stages of convolution, max pooling and ReLU, or none, then fully
connected layers with ReLU and dropout, or none. Pooling: mean, max, attention or gated attention with one head, at
either level. Head: linear, or one of the connections.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from bagwise.augmentation import Augmentation
from bagwise.connections import DeepSupervision, Layered, Residual
from bagwise.dropout import Dropout
from bagwise.inputs import Prepare
from bagwise.likelihoods import Bernoulli, Categorical, Likelihood, Supervised
from bagwise.models import BagModel
from bagwise.pooling import AttendedScores, Attention, GatedAttention, Max, Mean, MeanProbability


class OutOfReach(Exception):  # noqa: N818 (torch trains such models)
    """The fused engine cannot train a model; the message says why."""


class Dense(NamedTuple):
    """A layer of the encoder, with ReLU behind it; without a linear map it is dropout of the instances themselves."""

    linear: nn.Linear | None
    dropout: Dropout | None


class Parts(NamedTuple):
    """What a model within reach consists of."""

    augmentations: list[Augmentation]  # of the instances as they are stored
    prepare: Prepare | None
    stages: list[nn.Conv2d]  # each with max pooling and ReLU behind it
    layers: list[Dense]
    connected: bool  # whether the pooling sees all layers side by side
    pooling: Mean | Max | MeanProbability | Attention | GatedAttention
    classifier: nn.Linear | None  # of instances
    head: nn.Linear | DeepSupervision | Residual | None  # of bags


def take_apart(model: nn.Module, likelihood: Likelihood) -> Parts:
    """The parts of a model; raises OutOfReach."""
    if type(model) is not BagModel:
        raise OutOfReach(f"a {type(model).__name__} is not one of bagwise's models")
    _check_weights(model)
    each = likelihood.each if isinstance(likelihood, Supervised) else likelihood
    if type(each) not in (Bernoulli, Categorical):
        raise OutOfReach(f"the likelihood '{each.name}' is not among its losses")
    leaves: list[Any] = list(_leaves(model.encoder))
    pooling, classifier, head = model.pooling, None, None
    if type(pooling) is AttendedScores:
        pooling, classifier = pooling.attention, _of(nn.Linear, pooling.classifier)
    elif type(model.head) is nn.Identity:
        classifier = _of(nn.Linear, leaves.pop())
    else:
        head = _of((nn.Linear, DeepSupervision, Residual), model.head)
    pooling = _of((Mean, MeanProbability, Max, Attention, GatedAttention), pooling)
    if getattr(pooling, "heads", 1) != 1:
        raise OutOfReach(f"its attention has {pooling.heads} heads")
    augmentations = []
    while leaves and isinstance(leaves[0], Augmentation):
        augmentations.append(leaves.pop(0))
    prepare = leaves.pop(0) if leaves and type(leaves[0]) is Prepare else None
    stages = _stages(leaves)
    if stages and prepare is None:
        raise OutOfReach("its images are not prepared")
    connected = len(leaves) == 1 and type(leaves[0]) is Layered
    layers = _layered(leaves[0]) if connected else _layers(leaves)
    return _checked(Parts(augmentations, prepare, stages, layers, connected, pooling, classifier, head), model)


def _check_weights(model: nn.Module) -> None:
    parameters = list(model.parameters())
    if {parameter.dtype for parameter in parameters} not in ({torch.float32}, {torch.float64}):
        raise OutOfReach("its weights are not float32")
    if not all(parameter.requires_grad for parameter in parameters):
        raise OutOfReach("some of its weights are frozen")
    if any(part._forward_hooks or part._forward_pre_hooks or part._backward_hooks for part in model.modules()):
        raise OutOfReach("it has hooks")


def _leaves(module: nn.Module) -> Iterator[nn.Module]:
    if type(module) is not nn.Sequential:
        yield module
        return
    for part in module:
        yield from _leaves(part)


def _of(kinds: Any, part: Any) -> Any:
    """The part, if it is exactly of a kind: a class derived from it may do something else."""
    if type(part) not in (kinds if isinstance(kinds, tuple) else (kinds,)):
        raise OutOfReach(f"{type(part).__name__} is not among its parts")
    return part


def _stages(leaves: list[Any]) -> list[nn.Conv2d]:
    """Convolutions with max pooling and ReLU behind them, which are taken from the beginning of the list."""
    stages = []
    while leaves and type(leaves[0]) is nn.Conv2d:
        convolution, *behind = leaves[:3]
        if [type(part) for part in behind] != [nn.MaxPool2d, nn.ReLU]:
            raise OutOfReach("a convolution of its encoder is not followed by max pooling and ReLU")
        pooling = behind[0]
        halves = (pooling.kernel_size, pooling.stride) in ((2, 2), ((2, 2), (2, 2)))
        if not halves or pooling.padding not in (0, (0, 0)) or pooling.dilation not in (1, (1, 1)) or pooling.ceil_mode:
            raise OutOfReach("its max pooling is not over windows of 2 × 2")
        _check_convolution(convolution)
        stages.append(convolution)
        del leaves[:3]
    return stages


def _check_convolution(convolution: nn.Conv2d) -> None:
    plain = convolution.stride == (1, 1) == convolution.dilation and convolution.groups == 1
    if not plain or convolution.padding not in ((0, 0), "valid"):
        raise OutOfReach("a convolution of its encoder has strides, padding, dilation or groups")
    if convolution.kernel_size[0] != convolution.kernel_size[1]:
        raise OutOfReach("a convolution of its encoder has windows that are not square")


def _layered(module: Any) -> list[Dense]:
    return [Dense(_of(nn.Linear, linear), _of(Dropout, dropout)) for linear, _, dropout in module.layers]


def _layers(leaves: list[Any]) -> list[Dense]:
    """Flatten, then (Linear, ReLU, Dropout) … of which each dropout may be missing; or Flatten and Dropout alone."""
    if not leaves or type(leaves[0]) is not nn.Flatten:
        raise OutOfReach("its encoder does not begin with a flat row of features")
    rest, layers = leaves[1:], []
    if len(rest) <= 1:
        return [Dense(None, _of(Dropout, rest[0]) if rest else None)]
    while rest:
        linear = _of(nn.Linear, rest.pop(0))
        if not rest or type(rest.pop(0)) is not nn.ReLU:
            raise OutOfReach("a layer of its encoder has no ReLU")
        layers.append(Dense(linear, rest.pop(0) if rest and type(rest[0]) is Dropout else None))
    return layers


def _checked(parts: Parts, model: nn.Module) -> Parts:
    """Refuse linear maps and convolutions without bias, what stands in two places, and what no part accounts for."""
    linears: list[Any] = [*parts.stages, *(layer.linear for layer in parts.layers if layer.linear is not None)]
    heads = [parts.classifier] if parts.head is None else [m for m in parts.head.modules() if type(m) is nn.Linear]
    if any(linear is None or linear.bias is None for linear in [*linears, *heads]):
        raise OutOfReach("a linear map or convolution of it has no bias")
    known = [*linears, *heads, *(layer.dropout for layer in parts.layers if layer.dropout is not None), parts.pooling]
    if len({id(part) for part in known}) != len(known):
        raise OutOfReach("a part of it stands in two places")
    parameters = [parameter for part in known if part is not None for parameter in part.parameters()]
    if len(parameters) != len({id(p) for p in parameters}) or len(parameters) != len(list(model.parameters())):
        raise OutOfReach("some of its weights are shared, or belong to no part it knows")
    return parts
