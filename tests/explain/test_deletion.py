import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.explain import deletion
from bagwise.explain.deletion import compute_deletion_curves, make_estimator_scorer, predict_subsets
from bagwise.explain.explanation import explain_bags
from bagwise.explain.shapley import plan_permutations
from unchecked import unchecked

NEEDLES = load_dataset("needles", n_bags=20)
KERNEL = MIKernel(calibration=False, random_state=0).fit(NEEDLES, NEEDLES.labels)
BAG = NEEDLES[[int(NEEDLES.sizes.argmax())]]
SUBSETS = [np.array([0]), np.array([4, 2]), np.arange(BAG.n_instances), np.array([1, 5, 3])]
MORE_NEEDLES = load_dataset("needles", n_bags=40)
NETWORK = BagClassifier(epochs=15, learning_rate=3e-3, random_state=0, engine="torch").fit(
    MORE_NEEDLES, MORE_NEEDLES.labels
)
POSITIVE_BAG = MORE_NEEDLES[[int((MORE_NEEDLES.labels * MORE_NEEDLES.sizes).argmax())]]


def predict_positive(rows):
    return NETWORK.predict_proba(Bags.from_list([POSITIVE_BAG.instances[rows]]))[0, 1]


def test_compute_deletion_curves_are_predictions_of_the_remaining_and_added_instances():
    order = np.random.default_rng(0).permutation(POSITIVE_BAG.n_instances)
    curve = compute_deletion_curves(NETWORK, POSITIVE_BAG, order, output_number=1, points=4)
    counts = (curve.shares * len(order)).round().astype(int)
    assert (counts[0], counts[-1], len(counts)) == (0, len(order), 5)
    remaining = [predict_positive(order[count:]) for count in counts[:-1]]
    added = [predict_positive(order[:count]) for count in counts[1:]]
    np.testing.assert_allclose(curve.deletion, [*remaining, 0.5], rtol=1e-5)
    np.testing.assert_allclose(curve.insertion, [0.5, *added], rtol=1e-5)


def test_compute_deletion_curves_areas_are_those_under_the_curves():
    curve = compute_deletion_curves(NETWORK, POSITIVE_BAG, np.arange(POSITIVE_BAG.n_instances), output_number=1)
    for heights, area in ((curve.deletion, curve.deletion_area), (curve.insertion, curve.insertion_area)):
        fine = np.linspace(0, 1, 100_001)
        np.testing.assert_allclose(area, np.interp(fine, curve.shares, heights).mean(), atol=1e-4)


def test_compute_deletion_curves_of_a_small_bag_has_one_step_per_instance():
    curve = compute_deletion_curves(
        NETWORK, POSITIVE_BAG, np.arange(POSITIVE_BAG.n_instances), output_number=1, points=1000
    )
    np.testing.assert_allclose(curve.shares, np.arange(POSITIVE_BAG.n_instances + 1) / POSITIVE_BAG.n_instances)


def test_compute_deletion_curves_of_one_instance_connect_its_prediction_and_even_odds():
    single = Bags.from_list([POSITIVE_BAG.instances[:1]])
    curve = compute_deletion_curves(NETWORK, single, np.array([0]), output_number=0)
    expected = NETWORK.predict_proba(single)[0, 0]
    np.testing.assert_allclose(curve.deletion, [expected, 0.5], rtol=1e-5)
    np.testing.assert_allclose(curve.insertion, [0.5, expected], rtol=1e-5)


def test_compute_deletion_curves_by_contribution_are_steeper_than_in_reverse():
    explanation = explain_bags(NETWORK, POSITIVE_BAG)
    assert explanation.outputs[0, 1] > 0.8  # otherwise the contributions are small
    best_first = np.argsort(-explanation.contributions[:, 1])
    good, bad = (compute_deletion_curves(NETWORK, POSITIVE_BAG, order, 1) for order in (best_first, best_first[::-1]))
    assert good.deletion_area < bad.deletion_area
    assert good.insertion_area > bad.insertion_area


@pytest.mark.parametrize(
    "order", [[0, 1], [0] * POSITIVE_BAG.n_instances, list(range(1, POSITIVE_BAG.n_instances + 1))], ids=str
)
def test_compute_deletion_curves_rejects_an_order_that_is_no_permutation(order):
    with pytest.raises(InputError, match=r"each of the \d+ rows of bag '.*' exactly once, e\.g\. np\.argsort"):
        compute_deletion_curves(NETWORK, POSITIVE_BAG, np.array(order), output_number=1)


def test_compute_deletion_curves_rejects_several_bags():
    with pytest.raises(InputError, match=r"need exactly one bag, got 2; select one, e\.g\. bags\[\[0\]\]"):
        compute_deletion_curves(NETWORK, MORE_NEEDLES[:2], np.arange(3), output_number=1)


@pytest.mark.parametrize("limit", [1, 4, 1000])
def test_predict_subsets_predicts_each_subset_as_a_bag(limit, monkeypatch):
    monkeypatch.setattr(deletion, "ROWS_AT_ONCE", limit)
    found = predict_subsets(KERNEL, BAG, SUBSETS)
    expected = [KERNEL.predict_proba(Bags.from_list([BAG.instances[rows]]))[0] for rows in SUBSETS]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_predict_subsets_limits_the_rows_predicted_at_once(monkeypatch):
    calls = []

    class CountingEstimator:
        def predict_outputs(self, bags):
            calls.append((len(bags), bags.n_instances))
            return np.full((len(bags), 2), 0.5)

    monkeypatch.setattr(deletion, "ROWS_AT_ONCE", 5)
    rows = [np.arange(size) for size in (2, 3, 1, 8, 4)]
    with unchecked():
        predict_subsets(CountingEstimator(), BAG, rows)
    assert calls == [(2, 5), (1, 1), (1, 8), (1, 4)]


def test_make_estimator_scorer_returns_the_log_odds_of_each_prefix():
    plan = plan_permutations(BAG.n_instances, n_permutations=2, n_blocks=BAG.n_instances)
    scores = make_estimator_scorer(KERNEL)(BAG, plan)
    prefix = Bags.from_list([BAG.instances[plan.permutations[1, :4]]])
    odds = KERNEL.predict_proba(prefix)[0]
    np.testing.assert_allclose(scores[1, 3, 1], np.log(odds[1] / odds[0]), rtol=1e-10)
    np.testing.assert_allclose(scores[..., 0], -scores[..., 1])
