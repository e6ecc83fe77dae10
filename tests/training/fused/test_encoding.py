import numpy as np
import pytest

pytest.importorskip("numba")
from fused_problems import look, packed, problem, with_torch

WIDTHS = {"small": [16, 12, 9], "identity": [5], "connected": [256, 128, 64]}


@pytest.mark.parametrize("encoder", WIDTHS)
def test_the_blocks_are_the_layers_of_the_module_with_its_dropout(encoder):
    options = {"connections": "deep supervision", "encoder": "mlp"} if encoder == "connected" else {"encoder": encoder}
    given = problem(pooling="max", dropout=0.4, **options)
    room, n_rows = look(given)
    rows, _ = packed(given)
    expected = with_torch(given, given.model.encoder, rows).numpy()
    capacity, start, blocks = len(room.rows), 0, []
    for width in WIDTHS[encoder]:
        blocks.append(room.hidden[start : start + n_rows * width].reshape(n_rows, width))
        start += capacity * width
    found = np.hstack(blocks) if encoder == "connected" else blocks[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert 0.2 < (expected == 0).mean() < 0.9
