import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.estimators.vectors import bag_vectors as module
from bagwise.estimators.vectors.bag_vectors import CodeBook, LearnedVectors, bag_vectors, portions
from bagwise.estimators.vectors.linear_machine import LinearMachine

DRAWS = np.random.default_rng(4)
BAGS = Bags.from_list([DRAWS.normal(size=(size, 3)) for size in (1, 4, 2, 9, 1, 3)])


class AsTheyAre(CodeBook):
    """Codes that are the rows themselves."""

    width = 3

    def codes(self, rows):
        return rows


class Direct(LearnedVectors):
    def __init__(self, book, machine):
        self.book, self.machine = book, machine


def test_a_bag_is_the_rooted_sum_of_its_codes_at_unit_length():
    for bag, vector in zip(BAGS, bag_vectors(AsTheyAre(), BAGS), strict=True):
        roots = []
        for column in range(3):
            total = sum(row[column] for row in bag)
            roots.append(np.sqrt(abs(total)) * (1 if total > 0 else -1))
        length = sum(root**2 for root in roots) ** 0.5
        np.testing.assert_allclose(vector, np.array(roots) / length, rtol=1e-12)


def test_codes_that_cancel_give_zeros():
    bags = Bags.from_list([[[1.0, -2.0, 0.5], [-1.0, 2.0, -0.5]]])
    np.testing.assert_array_equal(bag_vectors(AsTheyAre(), bags), np.zeros((1, 3)))


@pytest.mark.parametrize("rows_at_once", [1, 2, 5, 7])
def test_bags_cut_into_pieces_give_the_same(monkeypatch, rows_at_once):
    learned = Direct(AsTheyAre(), LinearMachine(np.array([[1.0, -2.0, 0.3]]), np.array([0.2])))
    vectors, shares = bag_vectors(AsTheyAre(), BAGS), learned.shares(BAGS)
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 3 * rows_at_once)
    np.testing.assert_allclose(bag_vectors(AsTheyAre(), BAGS), vectors, rtol=1e-12)
    np.testing.assert_allclose(learned.shares(BAGS), shares, rtol=1e-12)


def test_an_instance_counts_by_its_part_for_or_against_the_decision():
    weights = np.array([1.0, -2.0, 0.3])
    shares = Direct(AsTheyAre(), LinearMachine(weights[None], np.array([0.2]))).shares(BAGS)
    for bag, found in zip(BAGS, np.split(shares, BAGS.offsets[1:-1]), strict=True):
        parts = [abs(float(weights @ row)) for row in bag]
        np.testing.assert_allclose(found, np.array(parts) / sum(parts), rtol=1e-12)


def test_of_several_classes_the_one_that_is_given_decides():
    machine = LinearMachine(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 0.0, 0.0]))
    bags = Bags.from_list([[[9.0, 1.0, 0.0], [3.0, 5.0, 0.0]], [[9.0, 1.0, 4.0], [3.0, 5.0, 12.0]]])
    np.testing.assert_allclose(Direct(AsTheyAre(), machine).shares(bags), [0.75, 0.25, 0.25, 0.75])


def test_portions_are_equal_where_nothing_counted():
    bags = Bags.from_list([[[0.0]] * 4, [[0.0]] * 2])
    parts = np.array([0.0, 0.0, 0.0, 0.0, 3.0, 1.0])
    np.testing.assert_array_equal(portions(parts, bags), [0.25, 0.25, 0.25, 0.25, 0.75, 0.25])
