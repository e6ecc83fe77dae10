"""What both machines share."""

import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.estimators import MISVM, MiSVM


@pytest.mark.parametrize("machine", [MiSVM, MISVM])
@pytest.mark.parametrize(
    "parameters", [{}, {"class_weight": "balanced"}, {"kernel": "linear"}, {"gamma": 0.7}], ids=str
)
def test_bags_of_one_instance_are_a_plain_machine(machine, parameters):
    draws = np.random.default_rng(5)
    rows = draws.normal(size=(80, 3))
    labels = (rows[:, 0] + draws.normal(size=80) > 0.7).astype(int)
    plain = SVC(C=2.0, tol=1e-8, **parameters).fit(rows, labels)
    model = machine(C=2.0, calibration=0, standardize=False, random_state=0, **parameters).fit(rows, labels)
    fresh = draws.normal(size=(50, 3))
    np.testing.assert_allclose(model.decision_function(fresh), plain.decision_function(fresh), atol=1e-5)
    assert len(model.objective_) == 1
