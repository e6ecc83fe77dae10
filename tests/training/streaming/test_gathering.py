import torch

from bagwise.training.streaming.gathering import Gathered


def test_rows_lie_in_one_array_in_the_order_they_came():
    parts = [torch.randn(size, 2, dtype=torch.float64) for size in (3, 1, 4)]
    gathered = Gathered(8)
    for part in parts:
        gathered.add(part)
    assert gathered.filled == 8
    torch.testing.assert_close(gathered.rows, torch.cat(parts), rtol=0, atol=0)
