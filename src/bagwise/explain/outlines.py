"""Outlines of regions of adjacent tiles: one ring around each region and one ring around each hole.

Tiles that overlap or share part of an edge belong to one region; tiles that only share a corner belong to different
regions. Coordinates are rounded to whole level-0 pixels, so that rounding in other tools leaves no gaps. Rings follow
the right-hand rule of RFC 7946: the shoelace formula is positive for the outer ring of a region and negative for a
hole. No ring touches itself.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from bagwise.errors import InputError

Point = tuple[int, int]  # x, y; or column, row on the grid
Ring = list[Point]  # closed: the last corner is equal to the first

MAX_CELLS = 1 << 26  # cells of the grid formed by the tile edges of a region
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # in the order of left turns


class Outline(NamedTuple):
    """A region: the indices of its tiles, and its rings with the outer ring first."""

    tiles: np.ndarray
    rings: list[Ring]


class _Boxes(NamedTuple):
    low: np.ndarray  # (n, 2) integers
    high: np.ndarray


def trace_outlines(positions: np.ndarray, tile_size: float) -> list[Outline]:
    """Return the outlines of the regions that tiles form, in the order of their first tiles.

    >>> [outline.rings for outline in trace_outlines(np.array([[0, 0], [2, 0]]), 2)]
    [[[(0, 0), (4, 0), (4, 2), (0, 2), (0, 0)]]]
    """
    if not len(positions):
        return []
    low = _round_to_pixels(positions)
    boxes = _Boxes(low, np.maximum(_round_to_pixels(positions + tile_size), low + 1))  # at least one pixel wide
    regions = _label_regions(boxes, tile_size)
    order = np.argsort(regions, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(regions[order])) + 1)
    return [Outline(group, _trace_region(_Boxes(boxes.low[group], boxes.high[group]))) for group in groups]


def _round_to_pixels(values: np.ndarray) -> np.ndarray:
    """Round to whole pixels, after rounding to three digits, so that a shared edge is the same in both tiles."""
    return np.rint(np.round(np.asarray(values, dtype=np.float64), 3)).astype(np.int64)


def _label_regions(boxes: _Boxes, tile_size: float) -> np.ndarray:
    """Return the region of each tile."""
    pairs = cKDTree(boxes.low).query_pairs(tile_size + 1, p=np.inf, output_type="ndarray")
    shared = np.minimum(boxes.high[pairs[:, 0]], boxes.high[pairs[:, 1]]) - boxes.low[pairs].max(axis=1)
    touching = pairs[(shared >= 0).all(axis=1) & (shared > 0).any(axis=1)]
    count = len(boxes.low)
    graph = coo_array((np.ones(len(touching), dtype=bool), touching.T), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _trace_region(boxes: _Boxes) -> list[Ring]:
    """Trace the rings of one region on the grid formed by the edges of its tiles."""
    columns, rows = (np.unique(np.concatenate([boxes.low[:, axis], boxes.high[:, axis]])) for axis in (0, 1))
    if len(columns) * len(rows) > MAX_CELLS:
        raise InputError(
            f"a region of {len(boxes.low)} tiles has too many distinct edges to be outlined; raise the threshold, "
            "or export the tiles without merging them"
        )
    low, high = (
        np.stack([np.searchsorted(columns, corners[:, 0]), np.searchsorted(rows, corners[:, 1])], axis=1)
        for corners in boxes
    )
    cells = _fill_cells(_Boxes(low, high), (len(rows), len(columns)))
    rings = [_close_ring(ring, columns, rows) for ring in _trace_rings(_find_borders(cells))]
    return sorted(rings, key=_is_hole)


def _fill_cells(boxes: _Boxes, shape: tuple[int, int]) -> np.ndarray:
    """Return which cells are covered, with an empty margin of one cell.

    Corners are counted with their signs and then summed along both axes.
    """
    (left, top), (right, bottom) = boxes.low.T, boxes.high.T
    counts = np.zeros((shape[0] + 1, shape[1] + 1), dtype=np.int32)
    for row, column, sign in ((top, left, 1), (bottom, right, 1), (top, right, -1), (bottom, left, -1)):
        np.add.at(counts, (row + 1, column + 1), sign)
    for axis in (0, 1):
        np.cumsum(counts, axis=axis, out=counts)
    return counts > 0


def _find_borders(cells: np.ndarray) -> dict[Point, list[int]]:
    """Return the directed edges with a covered cell on the left and an empty cell on the right, by start point."""
    inner = cells[1:-1, 1:-1]
    neighbours = (cells[:-2, 1:-1], cells[1:-1, 2:], cells[2:, 1:-1], cells[1:-1, :-2])
    edges: dict[Point, list[int]] = {}
    for direction, (neighbour, (x, y)) in enumerate(zip(neighbours, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True)):
        for row, column in np.argwhere(inner & ~neighbour).tolist():
            edges.setdefault((column + x, row + y), []).append(direction)
    return edges


def _trace_rings(edges: dict[Point, list[int]]) -> list[Ring]:
    """Return the rings that the edges form; where two rings meet at a corner, turning right separates them."""
    rings = []
    while edges:
        start = point = next(iter(edges))  # always a corner: on a straight side, the preceding edge comes first
        direction = -1
        ring: Ring = []
        while point != start or not ring:
            turn = _pop_edge(edges, point, direction)
            if turn != direction:
                ring.append(point)
            direction = turn
            point = (point[0] + DIRECTIONS[turn][0], point[1] + DIRECTIONS[turn][1])
        rings.append(ring)
    return rings


def _pop_edge(edges: dict[Point, list[int]], point: Point, direction: int) -> int:
    """Remove an edge that starts at a point and return its direction; of two edges, the one to the right."""
    candidates = edges[point]
    right = (direction - 1) % 4
    turn = right if len(candidates) > 1 and right in candidates else candidates[0]
    candidates.remove(turn)
    if not candidates:
        del edges[point]
    return turn


def _close_ring(ring: Ring, columns: np.ndarray, rows: np.ndarray) -> Ring:
    """Convert grid points to pixels and repeat the first corner at the end."""
    corners = [(int(columns[column]), int(rows[row])) for column, row in ring]
    return [*corners, corners[0]]


def _is_hole(ring: Ring) -> bool:
    (x, y) = np.array(ring).T
    return bool((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() < 0)
