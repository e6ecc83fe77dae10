import numpy as np
from torch import nn

from bagwise.training.fused import stages
from bagwise.training.fused.stages import LANES, flat_width, lay_out_stages, padded, room_for_stages


def lay_out():
    places = iter(range(100, 500, 100))
    return lay_out_stages([nn.Conv2d(3, 5, 3), nn.Conv2d(5, 9, 2)], (3, 12, 13), lambda _: next(places))


def test_lengths_are_padded_to_whole_vectors():
    assert [padded(length) for length in (1, 8, 9)] == [8, 8, 16]


def test_stages_say_what_they_read_and_give():
    found = lay_out()
    assert found.table[:, :7].tolist() == [[12, 13, 3, 3, 5, 5, 5], [5, 5, 5, 2, 9, 2, 2]]
    assert found.table[:, [stages.STAGE_WEIGHTS, stages.STAGE_BIAS]].tolist() == [[100, 200], [300, 400]]
    assert found.table[:, stages.COLUMN].tolist() == [0, 5 * 5 * 5], "the maps of one stage follow those of the other"
    assert flat_width(found) == 2 * 2 * 9


def test_the_vectors_of_a_window_lie_row_by_row():
    found = lay_out()
    first, second = found.table[:, stages.SIZE] // LANES
    assert found.window_offsets[:6].tolist() == [0, 8, 39, 47, 78, 86], "rows of nine numbers, 13 · 3 apart"
    assert found.window_offsets[first : first + 4].tolist() == [0, 8, 25, 33], "rows of ten numbers, 5 · 5 apart"
    assert len(found.window_offsets) == len(found.kernel_offsets) == first + second


def test_no_vector_ends_outside_the_room():
    found = lay_out()
    made = room_for_stages(found, n_rows=4, dtype=np.float64)
    assert made.maps.size == made.winners.size == made.slopes.size >= 4 * (5 * 5 * 5 + 2 * 2 * 9) + LANES
    for stage in found.table:
        last = stage[stages.KERNELS] + (stage[stages.MAPS] - 1) * stage[stages.SIZE]
        assert last + found.kernel_offsets.max() + LANES <= made.kernels.size
        rows = 1 + stage[stages.KERNEL] * stage[stages.ROW]
        assert stage[stages.TILES] + rows * stage[stages.TILES_WIDTH] <= made.tiles.size
