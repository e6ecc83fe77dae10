import numpy as np

from bagwise.evaluation.grouping import by_group


def test_a_group_has_the_label_of_its_bags_and_the_mean_of_their_probabilities():
    draws = np.random.default_rng(0)
    groups = draws.choice(list("abcd"), 30)
    targets = np.isin(groups, ["b", "c"]).astype(int)
    chances = draws.dirichlet([1, 1], 30)
    found = by_group(targets, chances, groups)
    for name, n_bags, target, chance in zip(*found, strict=True):
        assert n_bags == (groups == name).sum()
        assert target == (name in "bc")
        np.testing.assert_allclose(chance, chances[groups == name].mean(axis=0))


def test_a_group_of_several_classes_has_no_label():
    chances = np.full((3, 2), 1 / 2)
    assert by_group(np.array([0, 1, 1]), chances, np.array(["a", "a", "b"])).targets is None
    assert by_group(np.array([1, 1, 0]), chances, np.array(["a", "a", "b"])).targets.tolist() == [1, 0]


def test_groups_of_bags_without_labels_are_judged_all_the_same():
    found = by_group(None, np.array([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]]), np.array(["a", "a", "b"]))
    assert found.targets is None
    np.testing.assert_allclose(found.probabilities, [[0.6, 0.4], [0.8, 0.2]])
