import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.paper.pictures.digits import KINDS, first_bag

NINES = [[0, 0], [1, 0, 1], [0, 1], [1, 1, 1], [1] * 13]


@pytest.mark.parametrize(
    ("kind", "expected"), [("negative", 0), ("single nine", 2), ("several nines", 3), ("thirteen images", 4)]
)
def test_bags_are_found_by_their_labels_and_sizes(kind, expected):
    sizes = [len(nines) for nines in NINES]
    labels = np.concatenate(NINES)
    bags = Bags(np.zeros((sum(sizes), 2)), np.cumsum([0, *sizes]), instance_labels=labels)
    assert first_bag(bags, KINDS[kind]) == expected
