import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.explain.heatmaps.tiles import tiles_of


def test_the_tiles_of_a_bag():
    positions = np.array([[1, 2], [3, 4], [5, 6]])
    bags = Bags(
        np.zeros((3, 4)),
        np.array([0, 1, 3]),
        names=np.array(["a", "b"]),
        positions=positions,
        tile_sizes=np.array([10, 20.5]),
    )
    found = tiles_of(bags[[1]])
    np.testing.assert_array_equal(found.positions, positions[1:])
    assert found.size == 20.5
    with pytest.raises(InputError, match="one bag, not of 2"):
        tiles_of(bags)


def test_what_is_missing_is_told_with_what_to_do():
    bare = Bags(np.zeros((3, 4)), np.array([0, 3]), names=np.array(["a"]))
    with pytest.raises(InputError, match="bag 'a' has no positions"):
        tiles_of(bare)
    with pytest.raises(InputError, match=r"bag 'a' has positions and no tile size; .* --patches FOLDER"):
        tiles_of(bare.replace(positions=np.zeros((3, 2))))
