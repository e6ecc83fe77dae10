import numpy as np

from bagwise.bags import Bags
from bagwise.datasets.colon import PATCH
from bagwise.paper.pictures.tissue import paint, rescaled


def test_patches_are_painted_where_they_were_cut_from_times_their_factor():
    patches = np.full((2, PATCH, PATCH, 3), 200, np.uint8)
    bag = Bags(patches, np.array([0, 2]), positions=np.array([[0, 0], [100, 50]]))
    canvas = paint(bag, np.array([0.0, 0.5]))
    assert (canvas[50 : 50 + PATCH, 100 : 100 + PATCH] == 100).all()
    canvas[50 : 50 + PATCH, 100 : 100 + PATCH] = 0
    assert (canvas == 0).all()


def test_of_two_patches_that_overlap_the_one_of_the_greater_factor_is_seen():
    patches = np.full((2, PATCH, PATCH, 3), 200, np.uint8)
    bag = Bags(patches, np.array([0, 2]), positions=np.array([[0, 0], [5, 5]]))
    assert paint(bag, np.array([1.0, 0.1]))[10, 10, 0] == 200


def test_rescaling_keeps_the_order_and_spans_one():
    values = np.random.default_rng(0).normal(size=20)
    found = rescaled(values)
    assert (found.min(), found.max()) == (0, 1)
    assert (np.argsort(found) == np.argsort(values)).all()
    assert rescaled(np.array([3.0, 3.0])).tolist() == [1.0, 1.0]
