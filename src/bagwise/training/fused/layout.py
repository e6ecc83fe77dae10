"""From the parts of a model to the tables that the kernels read, and to places in one flat array of weights.

The first layer's weights lie output by output, as torch's, and so do those of convolutions; those of the
later layers, of the attention and of a classifier of instances lie input by input (see ``layers``).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from bagwise.connections import DeepSupervision, Residual
from bagwise.likelihoods import Likelihood, Supervised
from bagwise.places import drawing
from bagwise.pooling import Attention, GatedAttention, Max
from bagwise.training.fused.plan import ATTENTION, GATED, MAX, MEAN, NONE, Plan
from bagwise.training.fused.reach import Dense, Parts
from bagwise.training.fused.stages import flat_width, lay_out_stages

NUMBERS = 1 << 32  # dropout compares numbers of 32 bits


class Slot(NamedTuple):
    """Where a parameter lies in the flat array; transposed: input by input."""

    parameter: nn.Parameter
    start: int
    transposed: bool


class Layout:
    """The plan of a model, and a slot for each of its parameters."""

    def __init__(self, parts: Parts, model: nn.Module, likelihood: Likelihood, shape: tuple[int, ...]) -> None:
        self.slots: list[Slot] = []
        self.size = 0
        dtype = next(model.parameters()).detach().numpy().dtype
        stages = lay_out_stages(parts.stages, shape, self._take) if parts.stages else ()
        layers = _with_maps(parts.layers) if parts.stages else parts.layers
        n_features = flat_width(stages) if stages else math.prod(shape)
        linears = [layer.linear for layer in layers]
        widths = [n_features if linear is None else linear.out_features for linear in linears]
        first_block = 0 if parts.connected else len(widths) - 1
        embedding = sum(widths[first_block:])
        each = likelihood.each if isinstance(likelihood, Supervised) else likelihood
        self.plan = Plan(
            stages=stages,
            layers=self._layers(linears) if parts.stages or linears[0] is not None else np.zeros((0, 4), np.int64),
            widths=np.array(widths, np.int64),
            columns=np.cumsum([0, *widths[:-1]]).astype(np.int64),
            drawers=_drawers(layers, model),
            scales=np.array([1 / (1 - _p(layer)) for layer in layers], dtype),
            first_block=first_block,
            pooling=_pooling(parts.pooling),
            instance_level=int(parts.head is None),
            attention=self._attention(parts.pooling),
            parts=np.array(self._parts(parts, embedding), np.int64),
            n_sets=likelihood.n_sets if isinstance(likelihood, Supervised) else 1,
            n_scores=each.n_scores,
        )

    def _take(self, parameter: Any, transposed: bool = False) -> int:
        """The position of a parameter in the flat array."""
        self.slots.append(Slot(parameter, self.size, transposed))
        self.size += parameter.numel()
        return self.slots[-1].start

    def _layer(self, linear: nn.Linear, transposed: bool) -> tuple[int, int, int, int]:
        weights, bias = self._take(linear.weight, transposed), self._take(linear.bias)
        return linear.in_features, linear.out_features, weights, bias

    def _layers(self, linears: list[nn.Linear | None]) -> np.ndarray:
        """Rows of Plan.layers."""
        rows = [(NONE,) * 4 if each is None else self._layer(each, number > 0) for number, each in enumerate(linears)]
        return np.array(rows, np.int64)

    def _attention(self, pooling: nn.Module) -> tuple[int, int, int, int]:
        if not isinstance(pooling, Attention | GatedAttention):
            return NONE, NONE, NONE, 0
        gate = self._take(pooling.U.weight, True) if isinstance(pooling, GatedAttention) else NONE
        return self._take(pooling.V.weight, True), gate, self._take(pooling.w.weight), pooling.V.out_features

    def _parts(self, parts: Parts, embedding: int) -> list[tuple[int, ...]]:
        """Rows of Plan.parts."""
        head = parts.head
        if parts.classifier is not None:
            width, scores, weights, bias = self._layer(parts.classifier, transposed=True)
            return [(weights, bias, 0, width, 0, scores)]
        if isinstance(head, DeepSupervision):
            edges = np.cumsum([0, *head.widths]).tolist()
            maps = [self._layer(linear, transposed=False) for linear in head.classifiers]  # type: ignore[arg-type]
            return [(at, bias, edges[n], width, n * out, out) for n, (width, out, at, bias) in enumerate(maps)]
        if isinstance(head, Residual):
            width, scores, weights, bias = self._layer(head.classifier, transposed=False)
            return [(weights, NONE if n else bias, n * width, width, 0, scores) for n in range(len(head.widths))]
        assert isinstance(head, nn.Linear)
        width, scores, weights, bias = self._layer(head, transposed=False)
        return [(weights, bias, 0, width, 0, scores)]


def _with_maps(layers: list[Dense]) -> list[Dense]:
    """A block for the maps, before the layers; an encoder without layers has it already."""
    return layers if layers[0].linear is None else [Dense(None, None), *layers]


def _pooling(pooling: nn.Module) -> int:
    kinds: dict[type, int] = {Max: MAX, Attention: ATTENTION, GatedAttention: GATED}
    return kinds.get(type(pooling), MEAN)


def _p(layer: Dense) -> float:
    return 0.0 if layer.dropout is None else layer.dropout.p


def _drawers(layers: list[Dense], model: nn.Module) -> np.ndarray:
    """Rows of Plan.drawers: dropouts are numbered as ``set_place`` numbers them."""
    modules = drawing(model)
    numbers = [0 if layer.dropout is None else modules.index(layer.dropout) for layer in layers]
    return np.array(
        [(number, round(_p(layer) * NUMBERS)) for number, layer in zip(numbers, layers, strict=True)], np.uint64
    )
