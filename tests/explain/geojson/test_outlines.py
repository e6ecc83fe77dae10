"""Outlines against a plain picture of the tiles: the same regions, the same holes, the same area."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from bagwise.errors import InputError
from bagwise.explain.geojson import outlines as module
from bagwise.explain.geojson.outlines import outlines
from explain.geojson.rules import area, check_polygon

SIDE = 40


def drawn(positions, size):
    """Which unit squares the tiles cover."""
    picture = np.zeros((SIDE, SIDE), dtype=bool)
    for x, y in positions:
        picture[y : y + size, x : x + size] = True
    return picture


def filled(rings):
    """Which unit squares lie within rings: a vertical side changes all squares to its right, even and odd."""
    picture = np.zeros((SIDE, SIDE), dtype=bool)
    for ring in rings:
        for (x, y), (_, below) in itertools.pairwise(ring):
            picture[min(y, below) : max(y, below), x:] ^= True
    return picture


def check(positions, size):
    """The outlines are the regions of the picture, each once, with rings by the rules."""
    picture = drawn(positions, size)
    regions, count = ndimage.label(picture)  # neighbours share an edge
    found = outlines(positions, size)
    assert len(found) == count
    for outline in found:
        mask = filled(outline.rings)
        numbers = np.unique(regions[mask])
        assert len(numbers) == 1
        np.testing.assert_array_equal(mask, regions == numbers[0])
        assert sum(map(area, outline.rings)) == mask.sum()
        check_polygon({"type": "Polygon", "coordinates": [[list(corner) for corner in ring] for ring in outline.rings]})
        inside = np.array([regions[y, x] == numbers[0] for x, y in positions])
        np.testing.assert_array_equal(np.sort(outline.tiles), np.flatnonzero(inside))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_any_tiles_of_a_grid(cells):
    check(np.array(sorted(cells)) * 5, 5)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=25), st.integers(1, 9))
def test_any_tiles_at_all(corners, size):
    check(np.array(corners), size)


def test_a_hole_is_a_ring_of_its_own():
    ring = np.array([(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]) * 4
    (found,) = outlines(ring, 4)
    assert len(found.rings) == 2
    assert sorted(found.rings[1][:-1]) == [(4, 4), (4, 8), (8, 4), (8, 8)]
    assert [area(rings) for rings in found.rings] == [144, -16]


def test_tiles_that_meet_at_a_corner_are_two_regions():
    assert len(outlines(np.array([[0, 0], [4, 4]]), 4)) == 2
    assert len(outlines(np.array([[0, 0], [4, 3]]), 4)) == 1


def test_a_hole_that_reaches_the_corner_of_another_stays_a_ring_of_its_own():
    """Two holes, or a hole and the outside, that meet at a corner: no ring passes a corner twice."""
    cells = [(x, y) for x in range(4) for y in range(4) if (x, y) not in {(1, 1), (2, 2)}]
    (found,) = outlines(np.array(cells), 1)
    assert [area(ring) for ring in found.rings] == [16, -1, -1]
    check(np.array([(x, y) for x in range(3) for y in range(3) if (x, y) not in {(1, 1), (0, 0)}]), 1)


def test_sides_without_corners_have_no_points_between():
    (found,) = outlines(np.array([(x, 0) for x in range(0, 40, 4)]), 4)
    assert found.rings == [[(0, 0), (40, 0), (40, 4), (0, 4), (0, 0)]]


@pytest.mark.parametrize("size", [100 / 3, 12.5])
def test_rounding_of_other_tools_leaves_no_slits(size):
    """Least of all where an edge lies on half a pixel."""
    positions = np.array([[column * size, row * size] for row in range(6) for column in range(6)]) + 7
    jittered = positions + np.random.default_rng(0).uniform(-1e-9, 1e-9, positions.shape)
    low, high = 7, round(7 + 6 * size)
    for tiles in (positions, jittered):
        (found,) = outlines(tiles, size)
        assert found.rings == [[(low, low), (high, low), (high, high), (low, high), (low, low)]]


def test_a_tile_smaller_than_a_pixel_has_the_outline_of_one():
    (found,) = outlines(np.array([[3.2, 4.1]]), 0.3)
    assert found.rings == [[(3, 4), (4, 4), (4, 5), (3, 5), (3, 4)]]


def test_no_tiles_have_no_outlines():
    assert outlines(np.zeros((0, 2)), 5) == []


def test_what_would_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 50)
    corners = np.random.default_rng(0).integers(0, 10, (20, 2))
    with pytest.raises(InputError, match="a region of 20 tiles is too ragged to be outlined; raise the threshold"):
        outlines(corners, 10)
