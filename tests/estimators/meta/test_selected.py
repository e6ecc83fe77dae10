import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from bagwise.bags.splitting import make_stratified_folds
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.meta.selected import Selected, make_inner_folds

NEEDLES = load_dataset("needles", n_bags=40)
GRID = {"C": [1e-4, 10.0], "gamma": [0.05]}
TARGETS = np.array([0, 1] * 10)


def test_make_inner_folds_holds_out_every_bag_once():
    folds = make_inner_folds(TARGETS, None, 4, seed=1)
    assert sorted(np.concatenate([held_out for _, held_out in folds])) == list(range(20))
    for training, held_out in folds:
        assert sorted([*training, *held_out]) == list(range(20))
        assert set(TARGETS[training]) == {0, 1}


def test_make_inner_folds_keeps_groups_together():
    groups = np.arange(20) // 4
    for training, held_out in make_inner_folds(TARGETS, groups, 3, seed=1):
        assert not set(groups[training]) & set(groups[held_out])


def test_make_inner_folds_makes_fewer_folds_for_few_bags_or_groups_but_not_for_a_rare_class():
    rare = np.array([0] * 10 + [1, 1])
    folds = make_inner_folds(rare, None, 5, seed=1)
    assert len(folds) == 5
    assert all(rare[training].any() for training, _ in folds)
    assert len(make_inner_folds(np.array([0, 0, 0, 1, 1]), None, 5, seed=1)) == 3
    assert len(make_inner_folds(TARGETS, np.arange(20) // 7, 5, seed=1)) == 3


def test_make_inner_folds_omits_folds_that_lack_a_class():
    targets, groups = np.array([0, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 2, 2])
    folds = make_inner_folds(targets, groups, 3, seed=1)
    assert 0 < len(folds) < 3
    assert all(set(targets[training]) == {0, 1} for training, _ in folds)


@pytest.mark.parametrize(
    ("targets", "groups", "folds", "message"),
    [
        ([0, 0, 1], None, 2, "a class has only one training bag, so none can be held out"),
        ([0, 0, 1, 1], [5, 5, 5, 5], 2, "all training bags belong to one group, so none can be held out"),
        ([0, 0, 1, 1], [5, 5, 6, 6], 2, "in every fold, the training bags lack a class"),
        ([0, 0, 1, 1], None, 1, "folds is 1; it must be a whole number of at least 2"),
    ],
    ids=["rare class", "one group", "a class in one group", "one fold"],
)
def test_make_inner_folds_rejects_bags_that_cannot_be_split(targets, groups, folds, message):
    with pytest.raises(InputError, match=message):
        make_inner_folds(np.array(targets), None if groups is None else np.array(groups), folds, seed=1)


def test_fit_selects_the_setting_of_minimum_criterion_and_fits_it_to_all_bags():
    model = Selected(MIKernel(calibration=False), GRID, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert model.best_ == [{"C": 1e-4, "gamma": 0.05}, {"C": 10.0, "gamma": 0.05}][model.criteria_.argmin()]
    alone = MIKernel(calibration=False, random_state=0, **model.best_).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.decision_function(NEEDLES), alone.decision_function(NEEDLES))


def test_fit_never_trains_on_held_out_bags():
    fitted = []

    class Recorder(MIKernel):
        def fit(self, X, y=None):
            fitted.append(set(X.names))
            return super().fit(X, y)

        def predict_outputs(self, X):
            assert not fitted[-1] & set(X.names)
            return super().predict_outputs(X)

    Selected(Recorder(calibration=False), GRID, folds=2).fit(NEEDLES, NEEDLES.labels)
    assert len(fitted) == 5
    assert fitted[-1] == set(NEEDLES.names)


def test_fit_keeps_groups_together():
    fitted = []

    class Recorder(MIKernel):
        def fit(self, X, y=None):
            fitted.append(set(X.groups))
            return super().fit(X, y)

    grouped = NEEDLES.replace(groups=np.arange(40) // 4)
    Selected(Recorder(calibration=False), GRID, folds=2).fit(grouped, grouped.labels)
    assert not fitted[0] & fitted[1], "the training bags of two folds share no group"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"grid": {"c": [1]}}, "grid: MIKernel has no parameter 'c'; did you mean 'C'"),
        ({"grid": {"C": 3}}, "grid: C is 3; it must be a list of values"),
        ({"grid": [1]}, "grid is .*; it must be a dict"),
        ({"grid": GRID, "folds": 1}, "folds is 1"),
    ],
    ids=str,
)
def test_fit_rejects_invalid_grids_by_name(words, message):
    with pytest.raises(InputError, match=message):
        Selected(MIKernel(), **words).fit(NEEDLES, NEEDLES.labels)


def test_criteria_are_mean_error_plus_mean_loss():
    model = Selected(MIKernel(calibration=False), GRID, folds=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    for setting, criterion in zip(ParameterGrid(GRID), model.criteria_, strict=True):
        errors, losses = [], []
        for training, held_out in make_stratified_folds(NEEDLES.labels, None, 2, model._make_split_seed()):
            copy = MIKernel(calibration=False, random_state=0, **setting).fit(
                NEEDLES[training], NEEDLES.labels[training]
            )
            probabilities = copy.predict_proba(NEEDLES[held_out])
            errors.extend(copy.predict(NEEDLES[held_out]) != NEEDLES.labels[held_out])
            losses.extend(-np.log(probabilities[np.arange(len(held_out)), NEEDLES.labels[held_out]]))
        assert criterion == pytest.approx(np.mean(errors) + np.mean(losses))


def test_fit_accepts_two_groups_and_rejects_one():
    two = NEEDLES.replace(groups=np.arange(40) // 20)
    Selected(MIKernel(calibration=False), {"C": [1.0]}, folds=3).fit(two, two.labels)
    one = NEEDLES.replace(groups=np.zeros(40))
    with pytest.raises(InputError, match="all training bags belong to one group"):
        Selected(MIKernel(calibration=False), {"C": [1.0]}).fit(one, one.labels)


def test_fit_ignores_folds_that_lack_a_class():
    labels = np.array([0, 1, 2, 1] * 10)
    groups = np.where(labels == 2, 0, 1 + np.arange(40) % 5)
    bags = NEEDLES.replace(groups=groups)
    model = Selected(MIKernel(calibration=False), {"C": [1.0]}, folds=3, random_state=0).fit(bags, labels)
    assert np.isfinite(model.criteria_).all()
    with pytest.raises(InputError, match="in every fold, the training bags lack a class"):
        Selected(MIKernel(calibration=False), {"C": [1.0]}, folds=3).fit(NEEDLES.replace(groups=labels), labels)


def test_load_restores_a_grid_of_arrays(tmp_path):
    model = Selected(MIKernel(calibration=False), {"C": np.array([1.0, 5.0])}, random_state=0).fit(
        NEEDLES, NEEDLES.labels
    )
    model.save(tmp_path / "model")
    loaded = Selected.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
