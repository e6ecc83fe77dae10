import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import MIKernel, Selected

NEEDLES = load_dataset("needles", n_bags=40)
GRID = {"C": [1e-4, 10.0], "gamma": [0.05]}


def test_the_setting_of_least_error_and_loss_on_held_out_bags_is_chosen_and_fitted_on_all():
    model = Selected(MIKernel(calibration=0), GRID, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert model.best_ == [{"C": 1e-4, "gamma": 0.05}, {"C": 10.0, "gamma": 0.05}][model.criteria_.argmin()]
    alone = MIKernel(calibration=0, random_state=0, **model.best_).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.decision_function(NEEDLES), alone.decision_function(NEEDLES))


def test_no_bag_that_is_held_out_is_learned_from():
    seen = []

    class Watcher(MIKernel):
        def fit(self, X, y=None):
            seen.append(set(X.names))
            return super().fit(X, y)

        def predict_proba(self, X):
            assert not seen[-1] & set(X.names)
            return super().predict_proba(X)

    Selected(Watcher(calibration=0), GRID, folds=2).fit(NEEDLES, NEEDLES.labels)
    assert len(seen) == 5
    assert seen[-1] == set(NEEDLES.names)


def test_groups_stay_together():
    seen = []

    class Watcher(MIKernel):
        def fit(self, X, y=None):
            seen.append(set(X.groups))
            return super().fit(X, y)

    grouped = NEEDLES.replace(groups=np.arange(40) // 4)
    Selected(Watcher(calibration=0), GRID, folds=2).fit(grouped, grouped.labels)
    assert not seen[0] & seen[1], "the two halves of two folds share no group"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"grid": {"c": [1]}}, "MIKernel has no parameter 'c'; did you mean 'C'"),
        ({"grid": {"C": 3}}, "C is 3; give a list"),
        ({"grid": [1]}, "grid is"),
        ({"grid": GRID, "folds": 1}, "folds is 1"),
    ],
    ids=str,
)
def test_wrong_grids_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        Selected(MIKernel(), **words).fit(NEEDLES, NEEDLES.labels)
