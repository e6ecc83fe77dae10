import numpy as np

from bagwise.evaluation.grouping import by_group


def test_a_group_has_the_mean_of_its_probabilities_and_is_positive_if_one_bag_is():
    draws = np.random.default_rng(0)
    groups, targets = draws.choice(list("abcd"), 30), draws.integers(0, 2, 30)
    chances = draws.dirichlet([1, 1], 30)
    found = by_group(targets, chances, groups)
    for name, target, chance in zip(*found, strict=True):
        assert target == targets[groups == name].max()
        np.testing.assert_allclose(chance, chances[groups == name].mean(axis=0))


def test_groups_of_several_classes_out_of_three_have_no_label():
    chances = np.full((3, 3), 1 / 3)
    assert by_group(np.array([0, 2, 1]), chances, np.array(["a", "a", "b"])) is None
    assert by_group(np.array([2, 2, 1]), chances, np.array(["a", "a", "b"])).targets.tolist() == [2, 1]
