import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.estimators import MiGraph, MIKernel, MinimaxKernel

DRAWS = np.random.default_rng(0)
LABELS = np.arange(12) % 3
BAGS = Bags.from_list([DRAWS.normal(size=(DRAWS.integers(1, 5), 3)) + label for label in LABELS])


@pytest.mark.parametrize("kind", [MIKernel, MinimaxKernel, MiGraph])
def test_an_instance_is_scored_as_a_bag_of_its_own(kind):
    model = kind(calibration=0).fit(BAGS, LABELS)
    scores = model.score_instances(BAGS)
    assert scores.shape == (BAGS.n_instances, 3)
    for row, own in zip(BAGS.instances, scores, strict=True):
        np.testing.assert_allclose(own, model.decision_function([row[None]])[0], rtol=0, atol=1e-10)


def test_a_graph_scores_the_mean_of_its_instances_by_their_votes():
    model = MiGraph(calibration=0).fit(BAGS, LABELS)
    pair = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])  # each has one vote
    np.testing.assert_allclose(model.decision_function([pair])[0], model.score_instances([pair]).mean(axis=0))
