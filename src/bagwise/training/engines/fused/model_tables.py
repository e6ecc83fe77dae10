"""Arrays that the kernels read and write: integer tables of the model, a parameter buffer and a workspace.

The output of a layer of the encoder is called a *block*. The embedding is the last block or, with connections, the
concatenation of all blocks. Each block is a contiguous (rows, width) part of one flat array.

The weights of the first dense layer, of convolutions and of the head are stored as (outputs, inputs), as in torch. The
weights of later dense layers, of the attention and of an instance classifier are stored transposed, as (inputs,
outputs); see ``dense``.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from bagwise.nn import DeepSupervision, Residual, list_random_modules
from bagwise.nn.pooling import Attention, GatedAttention, Max
from bagwise.targets import Likelihood, Supervised
from bagwise.training.engines.fused.compatibility import DenseLayer, ModelParts
from bagwise.training.engines.fused.conv_tables import (
    MARGIN,
    ConvTables,
    ConvWorkspace,
    get_flat_width,
    make_conv_tables,
    make_conv_workspace,
)

MEAN, MAX, ATTENTION, GATED = range(4)  # values of ModelTables.pooling
INPUTS, OUTPUTS, WEIGHTS, BIAS = range(4)  # columns of ModelTables.layers
HEAD_WEIGHTS, HEAD_BIAS, HEAD_COLUMN, HEAD_WIDTH, HEAD_SCORE, HEAD_SCORES = range(6)  # columns of ModelTables.head
NONE = -1  # position of a parameter that does not exist
RANDOM_VALUES = 1 << 32  # number of 32-bit values, with which dropout compares


class AttentionTable(NamedTuple):
    """Positions of the parameters of the attention in the buffer."""

    V: int
    U: int  # NONE without gate
    w: int
    width: int  # L, the number of rows of V


class ModelTables(NamedTuple):
    """Model as integer tables; positions refer to the parameter buffer."""

    conv: ConvTables | tuple[()]  # stages of convolution; the flattened maps of the last stage are the first block
    layers: np.ndarray  # (layers, 4): inputs, outputs, position of weights and bias; flattened maps count as a layer
    block_widths: np.ndarray  # (blocks,): number of columns; an encoder without layers has one block, its input
    block_starts: np.ndarray  # (blocks,): first column of each block in the concatenation of all blocks
    dropouts: np.ndarray  # (blocks, 2): random stream, and threshold below which a value is dropped
    dropout_scales: np.ndarray  # (blocks,): 1/(1 − p)
    first_pooled_block: int  # first block of the embedding
    pooling: int
    instance_level: int
    attention: AttentionTable
    head: np.ndarray  # (parts, 6): position of weights and bias, first column, columns, first score, scores
    n_sets: int  # number of sets of scores, each with its own loss
    n_scores: int  # number of scores per set


class ParameterBuffer(NamedTuple):
    """Weights and moments of the optimizer, in the same layout."""

    weights: np.ndarray
    first_moments: np.ndarray
    second_moments: np.ndarray


class TrainingBags(NamedTuple):
    """Training bags as flat rows of encoder input."""

    instances: np.ndarray  # (instances, features)
    offsets: np.ndarray
    targets: np.ndarray
    importance: np.ndarray


class Workspace(NamedTuple):
    """Arrays that a step writes; they are allocated once for many steps."""

    conv: ConvWorkspace | tuple[()]
    instances: np.ndarray  # (rows, features) of the batch
    offsets: np.ndarray  # (bags + 1,) of the batch
    activations: np.ndarray  # all blocks, flat
    activation_gradients: np.ndarray  # the same layout
    dropout_masks: np.ndarray  # bytes, the same layout
    nonzero_columns: np.ndarray  # for each row of a block, the nonzero columns …
    n_nonzero_columns: np.ndarray  # (blocks, rows) … and their number
    nonzero_rows: np.ndarray  # for each column of a block, the nonzero rows …
    n_nonzero_rows: np.ndarray  # (all columns,) … and their number
    selected_rows: np.ndarray  # (rows + 1,): temporary list of rows
    tanh: np.ndarray  # (rows, L): tanh(V h)
    gate: np.ndarray  # (rows, L): sigm(U h)
    tanh_gradients: np.ndarray
    gate_gradients: np.ndarray
    instance_weights: np.ndarray  # (rows,): attention weights, or 1/K
    instance_weight_gradients: np.ndarray  # (rows,)
    instance_scores: np.ndarray  # (rows, scores)
    instance_score_gradients: np.ndarray
    pooled: np.ndarray  # (bags, embedding)
    pooled_gradients: np.ndarray
    scores: np.ndarray  # (bags, scores)
    score_gradients: np.ndarray
    row_gradient: np.ndarray  # gradient of one row of weights
    head_gradients: np.ndarray  # gradients of the head, in the layout of the parameter buffer


def make_workspace(
    tables: ModelTables, n_features: int, n_rows: int, n_bags: int, n_weights: int, dtype: npt.DTypeLike
) -> Workspace:
    """Allocate a workspace for batches of up to ``n_rows`` rows and ``n_bags`` bags."""
    total, embedding = int(tables.block_widths.sum()), int(tables.block_widths[tables.first_pooled_block :].sum())
    width, n_scores = tables.attention.width, tables.n_sets * tables.n_scores
    widest = max(n_features, width, int(tables.block_widths.max()), n_scores)

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype)

    return Workspace(
        conv=make_conv_workspace(tables.conv, n_rows, dtype) if tables.conv else (),
        instances=zeros(n_rows * n_features + MARGIN)[: n_rows * n_features].reshape(n_rows, n_features),
        offsets=np.zeros(n_bags + 1, np.int64),
        activations=zeros(n_rows * total),
        activation_gradients=zeros(n_rows * total),
        dropout_masks=np.ones(n_rows * total, np.uint8),
        nonzero_columns=np.zeros(n_rows * total, np.uint32),
        n_nonzero_columns=np.zeros((len(tables.block_widths), n_rows), np.int64),
        nonzero_rows=np.zeros(n_rows * total, np.uint32),
        n_nonzero_rows=np.zeros(total, np.int64),
        selected_rows=np.zeros(n_rows + 1, np.uint32),
        tanh=zeros(n_rows, width),
        gate=zeros(n_rows, width),
        tanh_gradients=zeros(n_rows, width),
        gate_gradients=zeros(n_rows, width),
        instance_weights=zeros(n_rows),
        instance_weight_gradients=zeros(n_rows),
        instance_scores=zeros(n_rows, n_scores),
        instance_score_gradients=zeros(n_rows, n_scores),
        pooled=zeros(n_bags, embedding),
        pooled_gradients=zeros(n_bags, embedding),
        scores=zeros(n_bags, n_scores),
        score_gradients=zeros(n_bags, n_scores),
        row_gradient=zeros(widest),
        head_gradients=zeros(n_weights),
    )


class ParameterSlot(NamedTuple):
    """Position of a parameter in the buffer; ``transposed`` means that it is stored as (inputs, outputs)."""

    parameter: Tensor
    start: int
    transposed: bool


class Layout:
    """Tables of a model, and the positions of its parameters in the parameter buffer.

    Parameters
    ----------
    parts : ModelParts
        Parts of the model; see ``decompose_model``.
    model : nn.Module
        Model, which determines the numbers of the random streams.
    likelihood : Likelihood
        Likelihood, which determines the number of scores.
    shape : tuple of int
        Shape of one instance as input of the first layer; (channels, height, width) for convolutions.

    Attributes
    ----------
    tables : ModelTables
        Tables for the kernels.
    slots : list of ParameterSlot
        Position of each parameter.
    size : int
        Number of values in the parameter buffer.
    """

    def __init__(self, parts: ModelParts, model: nn.Module, likelihood: Likelihood, shape: tuple[int, ...]) -> None:
        self.slots: list[ParameterSlot] = []
        self.size = 0
        dtype = next(model.parameters()).detach().numpy().dtype
        conv = make_conv_tables(parts.convolutions, shape, self._allocate) if parts.convolutions else ()
        layers = _add_map_block(parts.layers) if parts.convolutions else parts.layers
        n_features = get_flat_width(conv) if conv else math.prod(shape)
        linears = [layer.linear for layer in layers]
        has_layers = bool(parts.convolutions) or linears[0] is not None
        widths = [n_features if linear is None else linear.out_features for linear in linears]
        each = likelihood.each if isinstance(likelihood, Supervised) else likelihood
        self.tables = ModelTables(
            conv=conv,
            layers=self._make_layer_table(linears) if has_layers else np.zeros((0, 4), np.int64),
            block_widths=np.array(widths, np.int64),
            block_starts=np.cumsum([0, *widths[:-1]]).astype(np.int64),
            dropouts=_make_dropout_table(layers, model),
            dropout_scales=np.array([1 / (1 - _get_dropout_rate(layer)) for layer in layers], dtype),
            first_pooled_block=0 if parts.connected else len(widths) - 1,
            pooling=_get_pooling_code(parts.pooling),
            instance_level=int(parts.head is None),
            attention=self._make_attention_table(parts.pooling),
            head=np.array(self._make_head_rows(parts), np.int64),
            n_sets=likelihood.n_sets if isinstance(likelihood, Supervised) else 1,
            n_scores=each.n_scores,
        )

    def _allocate(self, parameter: Tensor, transposed: bool = False) -> int:
        """Append a parameter to the buffer and return its position."""
        start = self.size
        self.slots.append(ParameterSlot(parameter, start, transposed))
        self.size += parameter.numel()
        return start

    def _allocate_linear(self, linear: nn.Linear, transposed: bool) -> "_LinearSlot":
        return _LinearSlot(
            inputs=linear.in_features,
            outputs=linear.out_features,
            weights=self._allocate(linear.weight, transposed),
            bias=self._allocate(linear.bias),
        )

    def _make_layer_table(self, linears: list[nn.Linear | None]) -> np.ndarray:
        none = _LinearSlot(inputs=NONE, outputs=NONE, weights=NONE, bias=NONE)
        slots = [
            none if linear is None else self._allocate_linear(linear, transposed=index > 0)
            for index, linear in enumerate(linears)
        ]
        return np.array(slots, np.int64)

    def _make_attention_table(self, pooling: nn.Module) -> AttentionTable:
        if not isinstance(pooling, Attention | GatedAttention):
            return AttentionTable(V=NONE, U=NONE, w=NONE, width=0)
        return AttentionTable(
            U=self._allocate(pooling.U.weight, True) if isinstance(pooling, GatedAttention) else NONE,
            V=self._allocate(pooling.V.weight, True),
            w=self._allocate(pooling.w.weight),
            width=pooling.V.out_features,
        )

    def _make_head_rows(self, parts: ModelParts) -> "list[_HeadRow]":
        head = parts.head
        if parts.classifier is not None:
            return [_make_head_row(self._allocate_linear(parts.classifier, transposed=True))]
        if isinstance(head, DeepSupervision):
            starts = np.cumsum([0, *head.widths]).tolist()
            slots = [self._allocate_linear(linear, transposed=False) for linear in head.classifiers]  # type: ignore[arg-type]
            return [
                _make_head_row(slot, column=starts[index], score=index * slot.outputs)
                for index, slot in enumerate(slots)
            ]
        if isinstance(head, Residual):
            slot = self._allocate_linear(head.classifier, transposed=False)
            first = _make_head_row(slot)
            rest = [first._replace(bias=NONE, column=index * slot.inputs) for index in range(1, len(head.widths))]
            return [first, *rest]
        assert isinstance(head, nn.Linear)
        return [_make_head_row(self._allocate_linear(head, transposed=False))]


class _LinearSlot(NamedTuple):
    """A row of ``ModelTables.layers``."""

    inputs: int
    outputs: int
    weights: int
    bias: int


class _HeadRow(NamedTuple):
    """A row of ``ModelTables.head``."""

    weights: int
    bias: int
    column: int
    width: int
    score: int
    scores: int


def _make_head_row(slot: _LinearSlot, column: int = 0, score: int = 0) -> _HeadRow:
    return _HeadRow(
        weights=slot.weights, bias=slot.bias, column=column, width=slot.inputs, score=score, scores=slot.outputs
    )


def _add_map_block(layers: list[DenseLayer]) -> list[DenseLayer]:
    """Insert a block for the flattened maps before the layers, unless the encoder has no dense layers."""
    return layers if layers[0].linear is None else [DenseLayer(None, None), *layers]


def _get_pooling_code(pooling: nn.Module) -> int:
    codes: dict[type, int] = {Max: MAX, Attention: ATTENTION, GatedAttention: GATED}
    return codes.get(type(pooling), MEAN)


def _get_dropout_rate(layer: DenseLayer) -> float:
    return 0.0 if layer.dropout is None else layer.dropout.p


def _make_dropout_table(layers: list[DenseLayer], model: nn.Module) -> np.ndarray:
    """Return ``ModelTables.dropouts``; random streams are numbered as by ``set_stream_position``."""
    modules = list_random_modules(model)
    streams = [0 if layer.dropout is None else modules.index(layer.dropout) for layer in layers]
    thresholds = [round(_get_dropout_rate(layer) * RANDOM_VALUES) for layer in layers]
    return np.array(list(zip(streams, thresholds, strict=True)), np.uint64)
