import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from bagwise.errors import InputError
from bagwise.estimators.vectors.linear_machine import fit_linear_machine

DRAWS = np.random.default_rng(0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_liblinear(n_classes):
    vectors = DRAWS.normal(size=(60, 7))
    targets = np.arange(60) % n_classes
    machine = fit_linear_machine(vectors, targets, 0.5)
    solver = LinearSVC(C=0.5, dual=False, max_iter=10_000).fit(vectors, targets)
    fresh = DRAWS.normal(size=(20, 7))
    expected = solver.decision_function(fresh).reshape(20, -1)
    np.testing.assert_allclose(machine.scores(fresh), expected, rtol=0, atol=1e-10)


def test_the_objective_in_the_docstring_is_least():
    vectors = DRAWS.normal(size=(40, 3))
    signs = np.where(vectors[:, 0] + 0.8 * DRAWS.normal(size=40) > 0, 1, -1)

    def objective(plane):
        margins = signs * (vectors @ plane[:3] + plane[3])
        return 0.5 * plane @ plane + 2.0 * (np.maximum(0, 1 - margins) ** 2).sum()

    machine = fit_linear_machine(vectors, (signs > 0).astype(int), 2.0)
    found = np.append(machine.weights[0], machine.biases)
    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found, best.x, atol=1e-3)


@pytest.mark.parametrize("C", [0, -1.0, "much"])
def test_a_senseless_cost_is_refused(C):
    with pytest.raises(InputError, match="C is"):
        fit_linear_machine(DRAWS.normal(size=(4, 2)), np.array([0, 1, 0, 1]), C)
