import os
import subprocess
import sys

import numpy as np
import pytest
from torch import nn

from bagwise.training.fused import stages
from bagwise.training.fused.stages import LANES, flat_width, lay_out_stages, padded, room_for_stages
from documented import ROOT


def lay_out():
    places = iter(range(100, 500, 100))
    return lay_out_stages([nn.Conv2d(3, 5, 3), nn.Conv2d(5, 9, 2)], (3, 12, 13), lambda _: next(places))


def test_lengths_are_padded_to_whole_vectors():
    assert [padded(length) for length in (1, LANES, LANES + 1)] == [LANES, LANES, 2 * LANES]


def test_stages_say_what_they_read_and_give():
    found = lay_out()
    assert found.table[:, :7].tolist() == [[12, 13, 3, 3, 5, 5, 5], [5, 5, 5, 2, 9, 2, 2]]
    assert found.table[:, [stages.STAGE_WEIGHTS, stages.STAGE_BIAS]].tolist() == [[100, 200], [300, 400]]
    assert found.table[:, stages.COLUMN].tolist() == [0, 5 * 5 * 5], "the maps of one stage follow those of the other"
    assert flat_width(found) == 2 * 2 * 9


def test_the_vectors_of_a_window_lie_row_by_row():
    found = lay_out()
    first, second = found.table[:, stages.SIZE] // LANES
    vectors = [row + place for row in (0, 39, 78) for place in range(0, padded(9), LANES)]
    assert found.window_offsets[: len(vectors)].tolist() == vectors, "rows of nine numbers, 13 · 3 apart"
    vectors = [row + place for row in (0, 25) for place in range(0, padded(10), LANES)]
    assert found.window_offsets[first:][: len(vectors)].tolist() == vectors, "rows of ten numbers, 5 · 5 apart"
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


@pytest.mark.parametrize(
    ("features", "lanes"), [({"avx512f": True}, 16), ({"avx512f": False, "avx2": True}, 8), ({}, 8)]
)
def test_a_vector_is_as_wide_as_the_registers(monkeypatch, features, lanes):
    monkeypatch.setattr(stages, "get_host_cpu_features", lambda: features)
    assert stages.lanes_of_host() == lanes


def test_a_processor_that_nobody_knows_has_short_vectors(monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(stages, "get_host_cpu_features", unknown)
    assert stages.lanes_of_host() == 8


OTHER_LANES = """
import sys
import llvmlite.binding as binding
import pytest
of_host = binding.get_host_cpu_features
class Told(type(of_host())):  # Numba looks at all of them, and compiles as ever
    def get(self, name, default=None):
        return %s if name == "avx512f" else super().get(name, default)
binding.get_host_cpu_features = lambda: Told(of_host())
ended = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *sys.argv[1:]])
from bagwise.training.fused import stages
assert stages.LANES == %d
sys.exit(ended)
"""


@pytest.mark.full
@pytest.mark.timeout(900)
def test_kernels_are_right_with_vectors_of_the_other_width(tmp_path):
    tests = [ROOT / "tests" / "training" / "fused" / f"test_{name}.py" for name in ("tiles", "retreating", "engine")]
    program = OTHER_LANES % (LANES == 8, 24 - LANES)
    ended = subprocess.run(
        [sys.executable, "-c", program, *tests],
        cwd=ROOT,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},  # machine code is kept for a processor, not for a width
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
