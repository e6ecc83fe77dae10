import numpy as np
import pytest

pytest.importorskip("numba")
from fused_problems import CNNS, look, packed, problem, with_torch


@pytest.mark.parametrize("encoder", CNNS)
def test_maps_are_those_of_the_module_stage_by_stage(encoder):
    given = problem(encoder=encoder)
    room, n_rows = look(given)
    prepare, layers = given.model.encoder
    expected, start = with_torch(given, prepare, packed(given)[0]), 0
    for number in range(3, len(layers), 3):
        expected = with_torch(given, layers[number - 3 : number], expected)
        if expected.ndim != 4:
            break
        size = expected[0].numel()
        found = room.stages.maps[start : start + n_rows * size].reshape(n_rows, *expected.shape[2:], expected.shape[1])
        np.testing.assert_allclose(found.transpose(0, 3, 1, 2), expected.numpy(), rtol=1e-11, atol=1e-13)
        assert 0.1 < (expected > 0).double().mean() < 1
        start += len(room.rows) * size
    assert start > 0


@pytest.mark.parametrize("encoder", CNNS)
def test_the_first_block_is_flattened_as_torch_flattens(encoder):
    given = problem(encoder=encoder)
    room, n_rows = look(given)
    prepare, layers = given.model.encoder
    n_parts = next(number for number, part in enumerate(layers) if type(part).__name__ == "Flatten") + 1
    parts = layers if encoder == "one stage" else layers[:n_parts]  # there dropout follows at once
    expected = with_torch(given, parts, with_torch(given, prepare, packed(given)[0])).numpy()
    np.testing.assert_allclose(room.hidden[: expected.size].reshape(n_rows, -1), expected, rtol=1e-11, atol=1e-13)
