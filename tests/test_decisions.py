import numpy as np

from bagwise.decisions import decide

PROBABILITIES = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])


def test_without_a_threshold_the_likeliest_class_wins_and_the_first_of_equals():
    np.testing.assert_array_equal(decide(PROBABILITIES), [0, 0, 1])
    np.testing.assert_array_equal(decide(np.array([[0.2, 0.5, 0.3]])), [1])


def test_a_threshold_is_for_the_second_of_two_classes():
    np.testing.assert_array_equal(decide(PROBABILITIES, 0.4), [0, 1, 1])
    np.testing.assert_array_equal(decide(PROBABILITIES, 0.05), [1, 1, 1])
    np.testing.assert_array_equal(decide(PROBABILITIES, 0.85), [0, 0, 0])


def test_more_classes_have_no_threshold():
    np.testing.assert_array_equal(decide(np.array([[0.5, 0.3, 0.2]]), 0.25), [0])
