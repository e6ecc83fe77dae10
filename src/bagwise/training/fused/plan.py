"""What the kernels read: a model as tables of numbers, its weights as one flat array, and the room they work in.

The outputs of the encoder's layers are its *blocks*; the embedding is the last block, or all of them side by side
(connections). Each block is a contiguous (rows, width) part of one flat array.
"""

from typing import Any, NamedTuple

import numpy as np

from bagwise.training.fused.stages import MARGIN, Stages, StagesRoom, room_for_stages

MEAN, MAX, ATTENTION, GATED = range(4)
INPUTS, OUTPUTS, WEIGHTS, BIAS = range(4)  # columns of Plan.layers
PART_WEIGHTS, PART_BIAS, PART_COLUMN, PART_WIDTH, PART_SCORE, PART_SCORES = range(6)  # columns of Plan.parts
NONE = -1  # in place of a position in the flat array


class Plan(NamedTuple):
    """A model as tables of numbers; positions are those of the flat array of weights."""

    stages: Stages | tuple[()]  # of convolution; their maps, laid flat, are the first block
    layers: np.ndarray  # (layers, 4): inputs, outputs, weights, bias; the maps of stages stand for a layer
    widths: np.ndarray  # (blocks,): their columns; an encoder without layers has one block, its input
    columns: np.ndarray  # (blocks,): the first column of each, of all blocks side by side
    drawers: np.ndarray  # (blocks, 2): the number of its dropout, and the threshold below which a value is silenced
    scales: np.ndarray  # (blocks,): 1/(1 − p)
    first_block: int  # of the embedding
    pooling: int
    instance_level: int
    attention: tuple[int, int, int, int]  # V, U, w, and their width L
    parts: np.ndarray  # (parts, 6) of the head: weights, bias, first column, columns, first score, scores
    n_sets: int  # of scores, each with a loss of its own
    n_scores: int  # in each set


class Flat(NamedTuple):
    """The weights and the moments of the optimiser, laid out alike."""

    weights: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Lessons(NamedTuple):
    """The training bags, prepared."""

    instances: np.ndarray  # (instances, features)
    offsets: np.ndarray
    targets: np.ndarray
    importance: np.ndarray


class Room(NamedTuple):
    """Where a step works; allocated once."""

    stages: StagesRoom | tuple[()]
    rows: np.ndarray  # (rows, features) of the batch
    edges: np.ndarray  # (bags + 1,)
    hidden: np.ndarray  # blocks, flat
    back: np.ndarray  # slopes of the loss along them
    kept: np.ndarray  # bytes: what dropout keeps
    active: np.ndarray  # the columns of each row that are not zero …
    counts: np.ndarray  # (blocks, rows) … and how many
    members: np.ndarray  # the rows of each column that are not zero …
    sizes: np.ndarray  # (all columns,) … and how many
    chosen: np.ndarray  # (rows + 1,): some rows
    tanh: np.ndarray  # (rows, L)
    gate: np.ndarray  # (rows, L)
    tanh_slopes: np.ndarray
    gate_slopes: np.ndarray
    attended: np.ndarray  # (rows,): the weights a
    relevance_slopes: np.ndarray  # (rows,)
    instance_scores: np.ndarray  # (rows, scores)
    instance_slopes: np.ndarray
    pooled: np.ndarray  # (bags, embedding)
    pooled_slopes: np.ndarray
    scores: np.ndarray  # (bags, scores)
    score_slopes: np.ndarray
    gradient: np.ndarray  # of one row of weights
    head_gradient: np.ndarray  # of the head's weights, laid out as they are


def room(plan: Plan, n_features: int, n_rows: int, n_bags: int, n_weights: int, dtype: Any) -> Room:
    """Room for batches of so many rows and bags."""
    total, embedding = int(plan.widths.sum()), int(plan.widths[plan.first_block :].sum())
    width, n_scores = plan.attention[3], plan.n_sets * plan.n_scores
    widest = max(n_features, width, int(plan.widths.max()), n_scores)

    def real(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype)

    return Room(
        stages=room_for_stages(plan.stages, n_rows, dtype) if plan.stages else (),
        rows=real(n_rows * n_features + MARGIN)[: n_rows * n_features].reshape(n_rows, n_features),
        edges=np.zeros(n_bags + 1, np.int64),
        hidden=real(n_rows * total),
        back=real(n_rows * total),
        kept=np.ones(n_rows * total, np.uint8),
        active=np.zeros(n_rows * total, np.uint32),
        counts=np.zeros((len(plan.widths), n_rows), np.int64),
        members=np.zeros(n_rows * total, np.uint32),
        sizes=np.zeros(total, np.int64),
        chosen=np.zeros(n_rows + 1, np.uint32),
        tanh=real(n_rows, width),
        gate=real(n_rows, width),
        tanh_slopes=real(n_rows, width),
        gate_slopes=real(n_rows, width),
        attended=real(n_rows),
        relevance_slopes=real(n_rows),
        instance_scores=real(n_rows, n_scores),
        instance_slopes=real(n_rows, n_scores),
        pooled=real(n_bags, embedding),
        pooled_slopes=real(n_bags, embedding),
        scores=real(n_bags, n_scores),
        score_slopes=real(n_bags, n_scores),
        gradient=real(widest),
        head_gradient=real(n_weights),
    )
