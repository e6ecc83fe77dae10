import numpy as np
import torch

from bagwise.explain.attribution import compute_class_scores, expand_scores
from bagwise.targets.likelihoods import clip_log

RNG = np.random.default_rng(4)


def test_compute_class_scores_of_two_classes_are_log_odds():
    positive = RNG.uniform(size=7)
    scores = compute_class_scores(clip_log(np.stack([1 - positive, positive], axis=1)))
    np.testing.assert_allclose(1 / (1 + np.exp(-scores[:, 1])), positive, rtol=1e-12)
    np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])


def test_compute_class_scores_of_several_classes_are_centred_log_probabilities():
    probabilities = RNG.dirichlet(np.ones(4), size=6)
    scores = compute_class_scores(torch.from_numpy(np.log(probabilities)))
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)
    exponentials = np.exp(scores)
    np.testing.assert_allclose(exponentials / exponentials.sum(axis=1, keepdims=True), probabilities, rtol=1e-12)


def test_compute_class_scores_are_finite_for_a_probability_of_one():
    assert np.isfinite(compute_class_scores(clip_log(np.array([[0.0, 1.0]])))).all()


def test_expand_scores_is_linear():
    for n_scores in (1, 3):
        first, second = RNG.normal(size=(2, 5, n_scores))
        np.testing.assert_allclose(
            expand_scores(first + second), expand_scores(first) + expand_scores(second), atol=1e-14
        )
