"""Outlines are compared with a raster of the tiles: the regions, the holes and the areas must be the same."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from bagwise.errors import InputError
from bagwise.explain import outlines
from bagwise.explain.outlines import trace_outlines
from explain.rules import area, check_polygon

SIDE = 40


def rasterise_tiles(positions, size):
    """Return which unit squares the tiles cover."""
    picture = np.zeros((SIDE, SIDE), dtype=bool)
    for x, y in positions:
        picture[y : y + size, x : x + size] = True
    return picture


def rasterise_rings(rings):
    """Return which unit squares are inside rings (even-odd rule): a vertical side flips all squares to its right."""
    picture = np.zeros((SIDE, SIDE), dtype=bool)
    for ring in rings:
        for (x, y), (_, below) in itertools.pairwise(ring):
            picture[min(y, below) : max(y, below), x:] ^= True
    return picture


def check_outlines(positions, size):
    """Check that the outlines are the regions of the raster, each once, with valid rings."""
    picture = rasterise_tiles(positions, size)
    regions, count = ndimage.label(picture)  # neighbours share an edge
    found = trace_outlines(positions, size)
    assert len(found) == count
    for outline in found:
        mask = rasterise_rings(outline.rings)
        labels = np.unique(regions[mask])
        assert len(labels) == 1
        np.testing.assert_array_equal(mask, regions == labels[0])
        assert sum(map(area, outline.rings)) == mask.sum()
        check_polygon({"type": "Polygon", "coordinates": [[list(corner) for corner in ring] for ring in outline.rings]})
        inside = np.array([regions[y, x] == labels[0] for x, y in positions])
        np.testing.assert_array_equal(np.sort(outline.tiles), np.flatnonzero(inside))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_trace_outlines_of_any_tiles_on_a_grid(cells):
    check_outlines(np.array(sorted(cells)) * 5, 5)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=25), st.integers(1, 9))
def test_trace_outlines_of_any_tiles(corners, size):
    check_outlines(np.array(corners), size)


def test_trace_outlines_has_a_ring_per_hole():
    ring = np.array([(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]) * 4
    (found,) = trace_outlines(ring, 4)
    assert len(found.rings) == 2
    assert sorted(found.rings[1][:-1]) == [(4, 4), (4, 8), (8, 4), (8, 8)]
    assert [area(rings) for rings in found.rings] == [144, -16]


def test_trace_outlines_separates_tiles_that_meet_at_a_corner():
    assert len(trace_outlines(np.array([[0, 0], [4, 4]]), 4)) == 2
    assert len(trace_outlines(np.array([[0, 0], [4, 3]]), 4)) == 1


def test_trace_outlines_separates_holes_that_meet_at_a_corner():
    """Two holes, or a hole and the outside, meet at a corner; no ring contains a corner twice."""
    cells = [(x, y) for x in range(4) for y in range(4) if (x, y) not in {(1, 1), (2, 2)}]
    (found,) = trace_outlines(np.array(cells), 1)
    assert [area(ring) for ring in found.rings] == [16, -1, -1]
    check_outlines(np.array([(x, y) for x in range(3) for y in range(3) if (x, y) not in {(1, 1), (0, 0)}]), 1)


def test_trace_outlines_has_no_points_on_straight_sides():
    (found,) = trace_outlines(np.array([(x, 0) for x in range(0, 40, 4)]), 4)
    assert found.rings == [[(0, 0), (40, 0), (40, 4), (0, 4), (0, 0)]]


@pytest.mark.parametrize("size", [100 / 3, 12.5])
def test_trace_outlines_of_fractional_tiles_has_no_gaps(size):
    """This also holds if an edge is at half a pixel."""
    positions = np.array([[column * size, row * size] for row in range(6) for column in range(6)]) + 7
    jittered = positions + np.random.default_rng(0).uniform(-1e-9, 1e-9, positions.shape)
    low, high = 7, round(7 + 6 * size)
    for tiles in (positions, jittered):
        (found,) = trace_outlines(tiles, size)
        assert found.rings == [[(low, low), (high, low), (high, high), (low, high), (low, low)]]


def test_trace_outlines_of_a_tiny_tile_is_one_pixel():
    (found,) = trace_outlines(np.array([[3.2, 4.1]]), 0.3)
    assert found.rings == [[(3, 4), (4, 4), (4, 5), (3, 5), (3, 4)]]


def test_trace_outlines_of_no_tiles_is_empty():
    assert trace_outlines(np.zeros((0, 2)), 5) == []


def test_trace_outlines_rejects_a_region_with_too_many_edges(monkeypatch):
    monkeypatch.setattr(outlines, "MAX_CELLS", 50)
    corners = np.random.default_rng(0).integers(0, 10, (20, 2))
    with pytest.raises(
        InputError, match="a region of 20 tiles has too many distinct edges to be outlined; raise the threshold"
    ):
        trace_outlines(corners, 10)
