from itertools import product

import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.bags import Bags
from bagwise.estimators.svm.instance_svm import InstanceLabels, MiSVM

PLAIN = {"calibration": 0, "standardize": False, "random_state": 0}


def draw(seed, n_bags=40):
    """Bags of noise, of which the positive hold one to three instances of another kind."""
    draws = np.random.default_rng(seed)
    labels = np.arange(n_bags) % 2
    bags = [draws.normal(size=(draws.integers(2, 8), 4)) for _ in labels]
    for bag, label in zip(bags, labels, strict=True):
        bag[: label * draws.integers(1, 4)] += 1.5
    return Bags.from_list(bags, labels=labels)


def unknown_of(bags, positive, **parameters):
    model = MiSVM(**parameters)
    model.classes_ = np.array([0, 1])
    return model._unknown(bags, positive)


def textbook(bags, labels, **parameters):
    """The method as the article prints it, with scikit-learn's machine on the rows."""
    guess = np.where(labels[bags.owners] == 1, 1, -1)
    while True:
        machine = SVC(tol=1e-5, **parameters).fit(bags.instances, guess)
        scores, before = machine.decision_function(bags.instances), guess.copy()
        for bag in np.flatnonzero(labels == 1):
            rows = np.flatnonzero(bags.owners == bag)
            guess[rows] = np.where(scores[rows] > 0, 1, -1)
            if (guess[rows] == -1).all():
                guess[rows[scores[rows].argmax()]] = 1
        if (guess == before).all():
            return machine, guess


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_the_method_of_the_article(seed, kernel):
    bags = draw(seed)
    model = MiSVM(C=2.0, kernel=kernel, **PLAIN).fit(bags, bags.labels)
    machine, guess = textbook(bags, bags.labels, C=2.0, kernel=kernel)
    assert len(model.objective_) > 1
    np.testing.assert_allclose(
        model.score_instances(bags), machine.decision_function(bags.instances), rtol=1e-4, atol=1e-4
    )
    of_positive = bags.labels[bags.owners] == 1
    assert (guess[of_positive] == -1).any()  # some were guessed anew


def test_the_best_labels_are_the_best_of_all_that_bags_allow():
    draws = np.random.default_rng(6)
    offsets, positive = np.array([0, 3, 5, 7]), np.repeat([True, False, True], [3, 2, 2])
    costs = np.where(positive, 1.7, 0.6)
    unknown = InstanceLabels(offsets, positive, costs)

    def loss(guess, scores):
        return (costs * np.maximum(0, 1 - guess * scores)).sum()

    def allowed(guess):
        return (guess[3:5] == -1).all() and (guess[:3] == 1).any() and (guess[5:] == 1).any()

    every = [np.array(guess) for guess in product([-1, 1], repeat=7) if allowed(np.array(guess))]
    for shift in (-3, -1, 0, 1):
        for _ in range(20):
            scores = draws.normal(size=7) + shift
            best = unknown.best(scores)
            assert allowed(best)
            assert loss(best, scores) == pytest.approx(min(loss(guess, scores) for guess in every), rel=1e-12)


def test_it_starts_with_all_instances_of_positive_bags():
    unknown = InstanceLabels(np.array([0, 2, 3]), np.array([True, True, False]), np.ones(3))
    assert unknown.first().tolist() == [1, 1, -1]


def test_balanced_bags_weigh_the_same_whatever_their_instances():
    bags = draw(7)
    positive = bags.labels[bags.owners] == 1
    costs = unknown_of(bags, bags.labels == 1, C=3.0, class_weight="balanced").costs
    assert costs[positive].sum() == pytest.approx(costs[~positive].sum())
    assert costs.sum() == pytest.approx(3.0 * bags.n_instances)
