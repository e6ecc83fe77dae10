"""The outline of tiles that touch: squares joined to regions, each a ring around it and a ring around each hole.

Tiles that share a piece of an edge, or overlap, are of one region; tiles that meet at a corner only are of two. Sides
lie on whole level-0 pixels, so that rounding in other tools leaves no slits. Rings turn by the right-hand rule of
RFC 7946: around a region the shoelace formula is positive, around a hole negative. No ring touches itself.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from bagwise.errors import InputError

Ring = list[tuple[int, int]]  # closed: the last corner is the first
MOST_CELLS = 1 << 26  # of the grid that the sides of a region's tiles make
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # directions in the order of turning left


class Outline(NamedTuple):
    """A region: the tiles in it, and its rings, the outer one first."""

    tiles: np.ndarray  # their numbers
    rings: list[Ring]


class _Boxes(NamedTuple):
    low: np.ndarray  # (n, 2) whole numbers
    high: np.ndarray


def outlines(positions: np.ndarray, tile_size: float) -> list[Outline]:
    """The regions that tiles make, in the order of their first tiles.

    >>> [found.rings for found in outlines(np.array([[0, 0], [2, 0]]), 2)]
    [[[(0, 0), (4, 0), (4, 2), (0, 2), (0, 0)]]]
    """
    if not len(positions):
        return []
    low = _whole(positions)
    boxes = _Boxes(low, np.maximum(_whole(positions + tile_size), low + 1))  # a polygon needs a pixel at least
    owners = _components(boxes, tile_size)
    order = np.argsort(owners, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(owners[order])) + 1)
    return [Outline(group, _rings(_Boxes(boxes.low[group], boxes.high[group]))) for group in groups]


def _whole(values: np.ndarray) -> np.ndarray:
    """The nearest whole pixel; three digits first, so that the two sides of one edge are rounded alike."""
    return np.rint(np.round(np.asarray(values, dtype=np.float64), 3)).astype(np.int64)


def _components(boxes: _Boxes, tile_size: float) -> np.ndarray:
    """The region of each tile."""
    pairs = cKDTree(boxes.low).query_pairs(tile_size + 1, p=np.inf, output_type="ndarray")
    shared = np.minimum(boxes.high[pairs[:, 0]], boxes.high[pairs[:, 1]]) - boxes.low[pairs].max(axis=1)
    touching = pairs[(shared >= 0).all(axis=1) & (shared > 0).any(axis=1)]
    count = len(boxes.low)
    graph = coo_array((np.ones(len(touching), dtype=bool), touching.T), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _rings(boxes: _Boxes) -> list[Ring]:
    """The rings of one region, traced on the grid that the sides of its tiles make."""
    columns, rows = (np.unique(np.concatenate([boxes.low[:, axis], boxes.high[:, axis]])) for axis in (0, 1))
    if len(columns) * len(rows) > MOST_CELLS:
        raise InputError(
            f"a region of {len(boxes.low)} tiles is too ragged to be outlined; raise the threshold, or export tiles"
        )
    left, right = (np.searchsorted(columns, sides[:, 0]) for sides in boxes)
    top, bottom = (np.searchsorted(rows, sides[:, 1]) for sides in boxes)
    cells = _filled(left, right, top, bottom, (len(rows), len(columns)))
    found = [_corners(ring, columns, rows) for ring in _trace(_borders(cells))]
    return sorted(found, key=_is_hole)


def _filled(
    left: np.ndarray, right: np.ndarray, top: np.ndarray, bottom: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Which cells a tile covers, with an empty one on each side: corners are counted, then summed twice."""
    counts = np.zeros((shape[0] + 1, shape[1] + 1), dtype=np.int32)
    for row, column, sign in ((top, left, 1), (bottom, right, 1), (top, right, -1), (bottom, left, -1)):
        np.add.at(counts, (row + 1, column + 1), sign)
    for axis in (0, 1):
        np.cumsum(counts, axis=axis, out=counts)
    return counts > 0


def _borders(cells: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """The directed edges between a covered cell, on their left, and an empty one: their directions by their starts."""
    inner = cells[1:-1, 1:-1]
    neighbours = (cells[:-2, 1:-1], cells[1:-1, 2:], cells[2:, 1:-1], cells[1:-1, :-2])
    edges: dict[tuple[int, int], list[int]] = {}
    for direction, (neighbour, (x, y)) in enumerate(zip(neighbours, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True)):
        for row, column in np.argwhere(inner & ~neighbour).tolist():
            edges.setdefault((column + x, row + y), []).append(direction)
    return edges


def _trace(edges: dict[tuple[int, int], list[int]]) -> list[list[tuple[int, int]]]:
    """Follow the edges round; where two rings meet at a corner, turning right keeps them apart."""
    rings = []
    while edges:
        start = place = next(iter(edges))  # a corner: along a side, the edge before it would come first
        direction = -1
        ring: list[tuple[int, int]] = []
        while place != start or not ring:
            turn = _leave(edges, place, direction)
            if turn != direction:
                ring.append(place)
            direction = turn
            place = (place[0] + STEPS[turn][0], place[1] + STEPS[turn][1])
        rings.append(ring)
    return rings


def _leave(edges: dict[tuple[int, int], list[int]], place: tuple[int, int], direction: int) -> int:
    """Take an edge away from a corner, the one to the right if there are two."""
    ways = edges[place]
    right = (direction - 1) % 4
    turn = right if len(ways) > 1 and right in ways else ways[0]
    ways.remove(turn)
    if not ways:
        del edges[place]
    return turn


def _corners(ring: list[tuple[int, int]], columns: np.ndarray, rows: np.ndarray) -> Ring:
    placed = [(int(columns[column]), int(rows[row])) for column, row in ring]
    return [*placed, placed[0]]


def _is_hole(ring: Ring) -> bool:
    (x, y) = np.array(ring).T
    return bool((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() < 0)
