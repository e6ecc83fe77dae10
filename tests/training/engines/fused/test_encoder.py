import numpy as np
import pytest

pytest.importorskip("numba")

from numba import njit, types

from bagwise.training.engines.fused.encoder import _choose_backward, _choose_forward, copy_instances
from fused_problems import get_batch_tensors, problem, run_module, run_one_step


@njit
def call_copy_instances(instances, n_rows, mask, scale, values, columns, n_columns, rows, n_nonzero_rows):
    copy_instances(instances, n_rows, mask, scale, values, columns, n_columns, rows, n_nonzero_rows)


@pytest.mark.parametrize(("choose", "n_arguments"), [(_choose_forward, 4), (_choose_backward, 6)])
def test_first_block_kernels_call_convolutions_only_if_the_model_has_them(choose, n_arguments):
    """Convolution kernels must not be compiled for models without images."""
    rest = [None] * n_arguments
    for_features, for_images = choose(types.Tuple(()), *rest), choose(types.Tuple((types.int64,)), *rest)
    assert not {"conv_forward", "conv_backward"} & set(for_features.__code__.co_names)
    assert {"conv_forward", "conv_backward"} & set(for_images.__code__.co_names)


def test_copy_instances_applies_dropout_and_lists_nonzero_values():
    instances, mask = np.array([[1.0, 0.0, -3.0], [4.0, 5.0, 6.0]]), np.array([[1, 1, 1], [0, 1, 1]], np.uint8)
    values, columns, rows = np.zeros((2, 3)), np.zeros((2, 3), np.int64), np.zeros((3, 2), np.int64)
    n_columns, n_nonzero_rows = np.zeros(2, np.int64), np.ones(3, np.int64)
    call_copy_instances(instances, 2, mask, 2.0, values, columns, n_columns, rows, n_nonzero_rows)
    assert values.tolist() == [[2, 0, -6], [0, 10, 12]]
    assert [columns[k, : n_columns[k]].tolist() for k in range(2)] == [[0, 2], [1, 2]]
    assert [rows[column, : n_nonzero_rows[column]].tolist() for column in range(3)] == [[0], [1], [0, 1]]


WIDTHS = {"small": [16, 12, 9], "identity": [5], "connected": [256, 128, 64]}


@pytest.mark.parametrize("encoder", WIDTHS)
def test_encoder_forward_matches_the_torch_module_with_its_dropout(encoder):
    options = {"connections": "deep supervision", "encoder": "mlp"} if encoder == "connected" else {"encoder": encoder}
    given = problem(pooling="max", dropout=0.4, **options)
    workspace, n_rows = run_one_step(given)
    expected = run_module(given, given.model.encoder, get_batch_tensors(given)[0]).numpy()
    capacity, start, blocks = len(workspace.instances), 0, []
    for width in WIDTHS[encoder]:
        blocks.append(workspace.activations[start : start + n_rows * width].reshape(n_rows, width))
        start += capacity * width
    embeddings = np.hstack(blocks) if encoder == "connected" else blocks[-1]
    np.testing.assert_allclose(embeddings, expected, rtol=1e-12, atol=1e-14)
    assert 0.2 < (expected == 0).mean() < 0.9
