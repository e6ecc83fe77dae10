import numpy as np

from bagwise.evaluation.grouping import by_group


def test_a_group_has_the_mean_of_its_probabilities_and_is_positive_if_one_bag_is():
    draws = np.random.default_rng(0)
    groups, targets = draws.choice(list("abcd"), 30), draws.integers(0, 2, 30)
    chances = draws.dirichlet([1, 1], 30)
    found = by_group(targets, chances, groups)
    for name, n_bags, target, chance in zip(*found, strict=True):
        assert n_bags == (groups == name).sum()
        assert target == targets[groups == name].max()
        np.testing.assert_allclose(chance, chances[groups == name].mean(axis=0))


def test_groups_of_several_classes_out_of_three_have_no_label():
    chances = np.full((3, 3), 1 / 3)
    assert by_group(np.array([0, 2, 1]), chances, np.array(["a", "a", "b"])).targets is None
    assert by_group(np.array([2, 2, 1]), chances, np.array(["a", "a", "b"])).targets.tolist() == [2, 1]


def test_groups_of_bags_without_labels_are_judged_all_the_same():
    found = by_group(None, np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"]))
    assert found.targets is None
    np.testing.assert_allclose(found.probabilities, [[0.6, 0.4], [0.8, 0.2]])
