import os
import subprocess
import sys

import numpy as np
import pytest
from torch import nn

pytest.importorskip("numba")

from bagwise.training.engines.fused import conv_tables
from bagwise.training.engines.fused.conv_tables import (
    LANES,
    ConvStage,
    get_flat_width,
    make_conv_tables,
    make_conv_workspace,
    pad_length,
)
from documented import ROOT


def make_tables():
    positions = iter(range(100, 500, 100))
    return make_conv_tables([nn.Conv2d(3, 5, 3), nn.Conv2d(5, 9, 2)], (3, 12, 13), lambda _: next(positions))


def get_stages(tables):
    return [ConvStage(*row) for row in tables.stages.tolist()]


@pytest.mark.parametrize(
    ("features", "lanes"), [({"avx512f": True}, 16), ({"avx512f": False, "avx2": True}, 8), ({}, 8)]
)
def test_detect_simd_lanes_returns_the_width_of_the_registers(monkeypatch, features, lanes):
    monkeypatch.setattr(conv_tables, "get_host_cpu_features", lambda: features)
    assert conv_tables.detect_simd_lanes() == lanes


def test_detect_simd_lanes_returns_8_for_an_unknown_processor(monkeypatch):
    def fail():
        raise RuntimeError

    monkeypatch.setattr(conv_tables, "get_host_cpu_features", fail)
    assert conv_tables.detect_simd_lanes() == 8


def test_pad_length_rounds_up_to_whole_vectors():
    assert [pad_length(length) for length in (1, LANES, LANES + 1)] == [LANES, LANES, 2 * LANES]


def test_conv_stage_fields_are_the_columns_of_the_table():
    columns = [
        *("HEIGHT", "WIDTH", "CHANNELS", "KERNEL", "MAPS", "POOLED_HEIGHT", "POOLED_WIDTH"),
        *("ROW", "ROW_PADDED", "WINDOW_PADDED"),
        *("STAGE_WEIGHTS", "STAGE_BIAS", "TILES", "TILES_WIDTH", "KERNELS", "MAPS_START", "OFFSETS"),
    ]
    assert [getattr(conv_tables, name) for name in columns] == list(range(len(columns)))
    fields = [name.removeprefix("STAGE_").lower() for name in columns]
    assert fields == list(ConvStage._fields)


def test_make_conv_tables_describes_shapes_and_positions():
    tables = make_tables()
    first, second = get_stages(tables)
    assert first[:7] == (12, 13, 3, 3, 5, 5, 5)
    assert second[:7] == (5, 5, 5, 2, 9, 2, 2)
    assert [(stage.weights, stage.bias) for stage in (first, second)] == [(100, 200), (300, 400)]
    assert (first.maps_start, second.maps_start) == (0, 5 * 5 * 5), "the maps of one stage follow those of the other"
    assert get_flat_width(tables) == 2 * 2 * 9


def test_make_conv_tables_lists_the_vectors_of_a_window_row_by_row():
    tables = make_tables()
    first, second = (stage.window_padded // LANES for stage in get_stages(tables))
    vectors = [row + column for row in (0, 39, 78) for column in range(0, pad_length(9), LANES)]
    assert tables.window_offsets[: len(vectors)].tolist() == vectors, "rows of nine values, 13 · 3 apart"
    vectors = [row + column for row in (0, 25) for column in range(0, pad_length(10), LANES)]
    assert tables.window_offsets[first:][: len(vectors)].tolist() == vectors, "rows of ten values, 5 · 5 apart"
    assert len(tables.window_offsets) == len(tables.kernel_offsets) == first + second


def test_make_conv_workspace_leaves_space_after_the_last_vector():
    tables = make_tables()
    made = make_conv_workspace(tables, n_rows=4, dtype=np.float64)
    assert made.maps.size == made.winners.size == made.map_gradients.size >= 4 * (5 * 5 * 5 + 2 * 2 * 9) + LANES
    for stage in get_stages(tables):
        last = stage.kernels + (stage.maps - 1) * stage.window_padded
        assert last + tables.kernel_offsets.max() + LANES <= made.kernels.size
        assert stage.tiles + (1 + stage.kernel * stage.row) * stage.tiles_width <= made.tiles.size


OTHER_LANES = """
import sys
import llvmlite.binding as binding
import pytest
get_features = binding.get_host_cpu_features
class Features(type(get_features())):  # the features that Numba reads are unchanged
    def get(self, name, default=None):
        return %s if name == "avx512f" else super().get(name, default)
binding.get_host_cpu_features = lambda: Features(get_features())
code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-m", "not full", *sys.argv[1:]])
from bagwise.training.engines.fused import conv_tables
assert conv_tables.LANES == %d
sys.exit(code)
"""


@pytest.mark.full
@pytest.mark.timeout(900)
def test_kernels_pass_their_tests_with_vectors_of_the_other_width(tmp_path):
    folder = ROOT / "tests" / "training" / "engines" / "fused"
    tests = [folder / f"test_{name}.py" for name in ("simd", "conv", "engine")]
    program = OTHER_LANES % (LANES == 8, 24 - LANES)
    result = subprocess.run(
        [sys.executable, "-c", program, *tests],
        cwd=ROOT,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},  # the cache is keyed by processor, not by vector width
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-3000:]
