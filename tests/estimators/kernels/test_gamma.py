import numpy as np
import pytest
from sklearn.svm import SVC

from bagwise.errors import InputError
from bagwise.estimators.kernels.gamma import resolve_gamma


def test_scale_is_what_scikit_learn_means_by_it():
    rows = np.random.default_rng(0).normal(3, 2, size=(20, 4))
    machine = SVC(gamma="scale").fit(rows, np.arange(20) % 2)
    assert resolve_gamma("scale", rows) == pytest.approx(machine._gamma, rel=1e-12)


def test_features_that_do_not_vary_do_not_count_after_standardising():
    rows = np.zeros((4, 10))
    rows[:, :2] = [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    assert resolve_gamma("scale", rows) == pytest.approx(1 / 2)
    assert resolve_gamma("scale", np.zeros((4, 10))) == 1


@pytest.mark.parametrize("gamma", [0, -1, "auto", None, True, float("nan")], ids=str)
def test_what_is_no_width_is_refused(gamma):
    with pytest.raises(InputError, match="gamma is"):
        resolve_gamma(gamma, np.eye(2))
