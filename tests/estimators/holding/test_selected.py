import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import MIKernel, Selected
from bagwise.folds import stratified_folds

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


def test_the_criterion_is_error_plus_loss():
    model = Selected(MIKernel(calibration=0), GRID, folds=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    for setting, criterion in zip(ParameterGrid(GRID), model.criteria_, strict=True):
        wrong, losses = [], []
        for kept, held in stratified_folds(NEEDLES.labels, None, 2, model._split_seed()):
            fitted = MIKernel(calibration=0, random_state=0, **setting).fit(NEEDLES[kept], NEEDLES.labels[kept])
            chances = fitted.predict_proba(NEEDLES[held])
            wrong.extend(fitted.predict(NEEDLES[held]) != NEEDLES.labels[held])
            losses.extend(-np.log(chances[np.arange(len(held)), NEEDLES.labels[held]]))
        assert criterion == pytest.approx(np.mean(wrong) + np.mean(losses))


def test_few_groups_make_few_folds_and_one_group_none():
    two = NEEDLES.replace(groups=np.arange(40) // 20)
    Selected(MIKernel(calibration=0), {"C": [1.0]}, folds=3).fit(two, two.labels)
    one = NEEDLES.replace(groups=np.zeros(40))
    with pytest.raises(InputError, match="all training bags belong to one group"):
        Selected(MIKernel(calibration=0), {"C": [1.0]}).fit(one, one.labels)


def test_folds_that_lack_a_class_choose_nothing():
    labels = np.array([0, 1, 2, 1] * 10)
    groups = np.where(labels == 2, 0, 1 + np.arange(40) % 5)
    bags = NEEDLES.replace(groups=groups)
    model = Selected(MIKernel(calibration=0), {"C": [1.0]}, folds=3, random_state=0).fit(bags, labels)
    assert np.isfinite(model.criteria_).all()
    with pytest.raises(InputError, match="leaves a bag of every class"):
        Selected(MIKernel(calibration=0), {"C": [1.0]}, folds=3).fit(NEEDLES.replace(groups=labels), labels)


def test_a_grid_of_arrays_can_be_saved(tmp_path):
    model = Selected(MIKernel(calibration=0), {"C": np.array([1.0, 5.0])}, random_state=0).fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    again = Selected.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
