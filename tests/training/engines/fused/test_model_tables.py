import numpy as np
import pytest

pytest.importorskip("numba")

from bagwise.training.engines.fused.conv_tables import LANES
from bagwise.training.engines.fused.model_tables import (
    HEAD_BIAS,
    HEAD_SCORE,
    HEAD_WEIGHTS,
    make_workspace,
)
from fused_problems import LEVELS, POOLINGS, make_layout, problem


def test_make_workspace_has_space_for_the_given_rows_and_bags():
    tables = make_layout(problem(connections="deep supervision", encoder="mlp", pooling="attention")).tables
    made = make_workspace(tables, 5, n_rows=20, n_bags=3, n_weights=100, dtype=np.float32)
    assert made.instances.shape == (20, 5)
    assert made.pooled.shape == (3, 256 + 128 + 64)
    assert made.scores.shape == (3, 3)
    assert made.activations.size == made.nonzero_rows.size == 20 * (256 + 128 + 64)
    assert made.row_gradient.size == 256, "the widest row of weights"
    assert tables.conv == made.conv == (), "there are no convolutions"


def test_make_workspace_leaves_space_for_a_vector_after_the_last_image():
    tables = make_layout(problem(encoder="two stages"), (3, 12, 13)).tables
    made = make_workspace(tables, 468, n_rows=4, n_bags=1, n_weights=100, dtype=np.float64)
    assert made.instances.shape == (4, 468)
    assert made.instances.flags.c_contiguous
    assert made.instances.base.size >= 4 * 468 + LANES


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_layout_gives_every_parameter_one_slot_without_overlap(pooling, level):
    given = problem(pooling=pooling, level=level)
    layout = make_layout(given)
    assert {id(slot.parameter) for slot in layout.slots} == {id(value) for value in given.model.parameters()}
    covered = np.concatenate([slot.start + np.arange(slot.parameter.numel()) for slot in layout.slots])
    assert sorted(covered) == list(range(layout.size))


def test_layout_has_the_dropout_streams_and_thresholds_of_the_modules():
    tables = make_layout(problem(dropout=0.25)).tables
    assert tables.dropouts.tolist() == [[0, 1 << 30], [1, 1 << 30], [2, 1 << 30]]
    assert tables.dropout_scales.tolist() == [4 / 3] * 3


def test_layout_transposes_every_dense_layer_except_the_first():
    layout = make_layout(problem())
    matrices = [slot.transposed for slot in layout.slots if slot.parameter.ndim == 2]
    assert matrices == [False, True, True, True, False, False]  # three layers, V, w, head
    assert layout.tables.first_pooled_block == 2
    assert layout.tables.block_widths.tolist() == [16, 12, 9]


def test_layout_pools_all_layers_with_connections():
    tables = make_layout(problem(connections="residual", encoder="mlp", pooling="max")).tables
    assert tables.first_pooled_block == 0
    assert len(set(tables.head[:, HEAD_WEIGHTS].tolist())) == 1, "the layers share one classifier"
    assert (tables.head[:, HEAD_BIAS] >= 0).tolist() == [True, False, False]
    tables = make_layout(problem(connections="deep supervision", encoder="mlp", pooling="max", n_classes=3)).tables
    assert tables.head[:, HEAD_SCORE].tolist() == [0, 3, 6]
    assert (tables.n_sets, tables.n_scores) == (3, 3)


def test_layout_has_the_maps_of_convolutions_as_the_first_block():
    given = problem(encoder="two stages")
    layout = make_layout(given, (3, 12, 13))
    assert layout.tables.block_widths.tolist() == [36, 11, 7]
    assert layout.tables.layers[0].tolist() == [-1] * 4, "no dense layer computes them"
    assert layout.size == sum(parameter.numel() for parameter in given.model.parameters())
