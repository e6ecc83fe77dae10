import numpy as np
import torch

from bagwise.explain.contract import by_class, class_scores
from bagwise.likelihoods import logarithms

DRAWS = np.random.default_rng(4)


def test_of_two_classes_the_scores_are_their_log_odds():
    positive = DRAWS.uniform(size=7)
    scores = class_scores(logarithms(np.stack([1 - positive, positive], axis=1)))
    np.testing.assert_allclose(1 / (1 + np.exp(-scores[:, 1])), positive, rtol=1e-12)
    np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])


def test_of_several_classes_the_scores_are_centred_and_give_the_probabilities_back():
    probabilities = DRAWS.dirichlet(np.ones(4), size=6)
    scores = class_scores(torch.from_numpy(np.log(probabilities)))
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)
    exponentials = np.exp(scores)
    np.testing.assert_allclose(exponentials / exponentials.sum(axis=1, keepdims=True), probabilities, rtol=1e-12)


def test_certainty_has_a_finite_score():
    assert np.isfinite(class_scores(logarithms(np.array([[0.0, 1.0]])))).all()


def test_a_sum_of_scores_has_the_sum_of_their_columns():
    for n_scores in (1, 3):
        one, other = DRAWS.normal(size=(2, 5, n_scores))
        np.testing.assert_allclose(by_class(one + other), by_class(one) + by_class(other), atol=1e-14)
