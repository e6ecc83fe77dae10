"""Tests of the instance-level support vector machine through the two methods that use it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.mi_svm import MISVM, MiSVM
from bagwise.estimators.classical.support_vectors import compute_costs

METHODS = [MISVM, MiSVM]
NEEDLES = load_dataset("needles", n_bags=60)
QUICK = {"calibration": False, "random_state": 0}
MORE_SEEDS = [pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5)]


@pytest.fixture(scope="module", params=METHODS, ids=lambda method: method.__name__)
def fitted(request):
    return request.param(**QUICK).fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "parameters", [{}, {"class_weight": "balanced"}, {"kernel": "linear"}, {"gamma": 0.7}], ids=str
)
def test_fit_of_bags_of_one_instance_equals_an_ordinary_support_vector_machine(method, parameters):
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(80, 3))
    labels = (rows[:, 0] + generator.normal(size=80) > 0.7).astype(int)
    machine = SVC(C=2.0, tol=1e-8, **parameters).fit(rows, labels)
    model = method(C=2.0, calibration=False, scaling="none", random_state=0, **parameters).fit(rows, labels)
    new_rows = generator.normal(size=(50, 3))
    np.testing.assert_allclose(model.decision_function(new_rows), machine.decision_function(new_rows), atol=1e-5)
    assert len(model.objective_) == 1


def test_scores_are_the_maximum_over_instances_and_the_witness_has_all_the_weight(fitted):
    scores = np.split(fitted.score_instances(NEEDLES), NEEDLES.offsets[1:-1])
    np.testing.assert_allclose(fitted.decision_function(NEEDLES), [own.max() for own in scores], rtol=1e-12)
    weights = np.split(fitted.weigh(NEEDLES), NEEDLES.offsets[1:-1])
    assert all(weight[own.argmax()] == 1 for weight, own in zip(weights, scores, strict=True))


@pytest.mark.parametrize("seed", [0, *MORE_SEEDS])
def test_shares_split_the_weight_between_equal_witnesses_at_any_position(fitted, seed):
    generator = np.random.default_rng(seed)
    rows = np.vstack([NEEDLES[0], NEEDLES[1], NEEDLES[2]])
    best = fitted.score_instances(Bags(rows, np.array([0, len(rows)]))).argmax()
    n_copies = int(generator.integers(2, 6))
    order = generator.permutation(len(rows) + n_copies - 1)
    shuffled = np.vstack([rows, np.repeat(rows[[best]], n_copies - 1, axis=0)])[order]
    weights = fitted.weigh(Bags(shuffled, np.array([0, len(shuffled)])))
    np.testing.assert_allclose(np.sort(weights)[-n_copies:], 1 / n_copies)
    assert np.count_nonzero(weights) == n_copies


@pytest.mark.parametrize("method", METHODS)
def test_nystrom_approximates_the_exact_kernel_with_many_landmarks(method):
    exact, few, many = (
        method(components=components, **QUICK).fit(NEEDLES, NEEDLES.labels).decision_function(NEEDLES)
        for components in (None, 5, 400)
    )
    assert np.corrcoef(exact, many)[0, 1] > 0.95
    assert np.abs(exact - many).mean() < 0.5 * np.abs(exact - few).mean()


def test_landmarks_depend_on_the_seed():
    first, same, other = (
        MISVM(components=10, calibration=False, random_state=seed).fit(NEEDLES, NEEDLES.labels).learned_.function.rows
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", METHODS)
def test_class_weight_increases_the_number_of_predictions_of_a_class(method):
    labels = np.where(NEEDLES.labels == 1, "tumour", "normal")
    shares = []
    for factor in (0.01, 100):
        model = method(C=0.01, class_weight={"normal": 1, "tumour": factor}, **QUICK).fit(NEEDLES, labels)
        shares.append((model.predict(NEEDLES) == "tumour").mean())
    assert shares[0] < 0.1
    assert shares[1] > 0.9


def test_fit_warns_if_it_does_not_converge():
    with pytest.warns(ConvergenceWarning, match="MISVM did not converge after 1 iterations; increase max_iter"):
        model = MISVM(max_iterations=1, **QUICK).fit(NEEDLES, NEEDLES.labels)
    assert not model.learned_.converged
    assert len(model.objective_) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": "big"}, "C is 'big'"),
        ({"kernel": "poly"}, "kernel 'poly' is unknown"),
        ({"gamma": -1}, "gamma is -1"),
        ({"components": 0}, "components is 0"),
        ({"components": 2.5}, "components is 2.5"),
        ({"class_weight": "even"}, "class_weight: .*'even'.* it must be None, 'balanced', or a dict"),
        ({"class_weight": {0: 1, 1: -2}}, "the class_weight of 1 is -2"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", METHODS)
def test_fit_rejects_invalid_parameters_by_name(method, parameters, message):
    with pytest.raises(InputError, match=message):
        method(**QUICK, **parameters).fit(NEEDLES, NEEDLES.labels)


def test_compute_costs_balances_the_total_cost_of_both_classes():
    positive = np.array([True] * 3 + [False] * 9)
    costs = compute_costs(2.0, "balanced", np.array(["no", "yes"]), positive)
    assert costs[positive].sum() == pytest.approx(costs[~positive].sum())
    assert costs.sum() == pytest.approx(2.0 * 12)
    np.testing.assert_array_equal(compute_costs(2.0, None, np.array(["no", "yes"]), positive), 2.0)
