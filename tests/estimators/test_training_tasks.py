import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.calibration import CalibrationWarning
from bagwise.estimators.training_tasks import (
    EPOCHS,
    EPOCHS_OF_MANY_BAGS,
    FOLDS,
    MANY_BAGS,
    PATIENCE,
    LabelledBags,
    describe_fit,
    make_part,
    make_training_settings,
    plan_training,
    resolve_validation,
    split_validation,
)
from bagwise.targets.classes import ClassTarget
from contexts import AddedMean

NEEDLES = load_dataset("needles", n_bags=40)
TARGET = ClassTarget(np.array(["no", "yes"]))
KNOWN = LabelledBags(NEEDLES, np.array([0] * 30 + [1] * 10))


def make_plan(estimator, bags=NEEDLES, given=None):
    estimator.seed_, estimator.target_ = 0, TARGET
    return plan_training(estimator, LabelledBags(bags, KNOWN.targets[: len(bags)]), given)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"patience": 3, "validation": None},
            "patience needs one set of validation bags, not folds",
        ),
        (
            {"patience": 3, "validation": 5},
            "patience needs one set of validation bags, not folds",
        ),
        ({"averaging": 0.5, "validation": 0.2}, "averaging and validation cannot be combined.*set averaging=0"),
        ({"averaging": 0.5, "patience": 3}, "averaging and patience cannot be combined.*set averaging=0"),
        ({"calibration": True, "validation": None}, "the calibration is learned from held-out bags; set validation"),
        ({"threshold": True, "validation": None}, "the threshold is learned from held-out bags; set validation"),
    ],
    ids=str,
)
def test_plan_training_rejects_parameters_that_contradict_each_other(parameters, message):
    with pytest.raises(InputError, match=message):
        make_plan(BagClassifier(**parameters))


def test_plan_training_uses_given_validation_bags_instead_of_a_share():
    given = KNOWN.select(np.arange(20, 40))
    plan = make_plan(BagClassifier(patience=3, calibration=True, threshold=True, validation=None), given=given)
    assert plan.chooses_epoch
    assert plan.settings.patience == 3
    assert [len(part.training.bags) for part in plan.parts] == [40]
    assert plan.held_out_targets.tolist() == given.targets.tolist()
    with pytest.raises(InputError, match="averaging and validation cannot be combined"):
        make_plan(BagClassifier(averaging=0.5), given=given)


def test_plan_training_makes_a_network_per_fold_of_few_bags():
    plan = make_plan(BagClassifier())
    assert not plan.chooses_epoch
    assert (plan.settings.epochs, plan.settings.patience) == (EPOCHS, None)
    assert [len(part.held_out.bags) for part in plan.parts] == [8] * FOLDS
    held_out = [name for part in plan.parts for name in part.held_out.bags.names]
    assert sorted(held_out) == sorted(NEEDLES.names)
    for part in plan.parts:
        assert not set(part.training.bags.names) & set(part.held_out.bags.names)
        assert sorted([*part.training.bags.names, *part.held_out.bags.names]) == sorted(NEEDLES.names)
    assert len({part.seed for part in plan.parts}) == FOLDS
    assert [part.seed for part in plan.parts] == [part.seed for part in make_plan(BagClassifier()).parts]


@pytest.mark.parametrize(
    ("n_bags", "n_positive", "parameters", "share"),
    [
        (499, 200, {}, None),
        (500, 99, {}, None),
        (500, 100, {}, 0.2),
        (500, 100, {"averaging": 0.5}, None),
        (40, 10, {"patience": 3}, 0.2),
        (40, 10, {"validation": 0.5}, 0.5),
    ],
    ids=str,
)
def test_resolve_validation_holds_out_a_share_if_it_can_choose_the_epoch(n_bags, n_positive, parameters, share):
    targets = np.repeat([1, 0], [n_positive, n_bags - n_positive])
    bags = Bags.from_list([np.ones((1, 2))] * n_bags)
    assert resolve_validation(BagClassifier(**parameters), LabelledBags(bags, targets), TARGET) == (share or FOLDS)


def test_resolve_validation_counts_groups_and_not_bags():
    targets = np.repeat([1, 0], [300, 300])
    bags = Bags.from_list([np.ones((1, 2))] * 600, groups=np.arange(600) // 2)
    assert resolve_validation(BagClassifier(), LabelledBags(bags, targets), TARGET) == FOLDS


def test_plan_training_trains_fewer_epochs_on_folds_of_many_bags():
    bags = Bags.from_list([np.full((1, 2), number) for number in range(MANY_BAGS + 1)])
    targets = np.arange(len(bags)) % 2

    def count_epochs(known, **parameters):
        model = BagClassifier(**parameters)
        model.seed_, model.target_ = 0, TARGET
        return plan_training(model, known, None).settings.epochs

    many = LabelledBags(bags, targets)
    assert count_epochs(many) == EPOCHS_OF_MANY_BAGS
    assert count_epochs(many, epochs=7) == 7
    assert count_epochs(many, validation=None) == EPOCHS
    assert count_epochs(many.select(np.arange(MANY_BAGS))) == EPOCHS


@pytest.mark.parametrize("parameters", [{"patience": 3}, {"calibration": True}, {"threshold": True}], ids=str)
def test_plan_training_holds_out_nothing_if_a_class_has_one_bag_unless_held_out_bags_are_demanded(parameters):
    few = KNOWN.select(np.arange(9, 31))  # one bag of the second class
    model = BagClassifier()
    model.seed_, model.target_ = 0, TARGET
    with pytest.warns(CalibrationWarning, match=r"no bags are held out.*a class has only one training bag"):
        plan = plan_training(model, few, None)
    assert [(len(part.training.bags), part.held_out) for part in plan.parts] == [(22, None)]
    assert not plan.chooses_epoch
    model.set_params(**parameters)
    with pytest.raises(InputError, match="bag"):
        plan_training(model, few, None)


def test_make_training_settings_copies_every_setting_from_the_estimator():
    model = BagClassifier(epochs=7, optimizer="sgd", learning_rate=0.1, most_instances=5)
    model.seed_ = 11
    settings = make_training_settings(model, [], chooses_epoch=False)
    assert (settings.epochs, settings.optimizer, settings.learning_rate) == (7, "sgd", 0.1)
    assert (settings.most_instances, settings.seed, settings.patience) == (5, 11, None)
    assert make_training_settings(model, [], chooses_epoch=True).patience == PATIENCE


def test_split_validation_holds_out_bags_of_every_class_and_keeps_all_bags():
    ((training, held_out),) = split_validation(KNOWN, TARGET, 0.2, seed=3)
    assert np.bincount(held_out.targets).tolist() == [6, 2]
    assert sorted([*training.bags.names, *held_out.bags.names]) == sorted(NEEDLES.names)
    ((_, again),) = split_validation(KNOWN, TARGET, 0.2, seed=3)
    assert again.bags.names.tolist() == held_out.bags.names.tolist()
    assert split_validation(KNOWN, TARGET, None, seed=3) == [(KNOWN, None)]


def test_split_validation_makes_folds_of_every_class_and_fewer_only_if_every_class_is_small():
    folds = split_validation(KNOWN, TARGET, 5, seed=3)
    assert [np.bincount(held_out.targets).tolist() for _, held_out in folds] == [[6, 2]] * 5
    small = KNOWN.select(np.arange(0, 32))  # two bags of the second class
    assert sorted(held_out.targets.sum() for _, held_out in split_validation(small, TARGET, 5, seed=3)) == [
        0,
        0,
        0,
        1,
        1,
    ]
    tiny = KNOWN.select(np.arange(27, 33))  # three bags of each class
    assert [held_out.targets.tolist() for _, held_out in split_validation(tiny, TARGET, 5, seed=3)] == [[0, 1]] * 3


@pytest.mark.parametrize("calibration", [True, np.True_])
def test_plan_training_does_not_calibrate_by_validation_bags_of_one_class(calibration):
    negative = KNOWN.select(np.arange(5))
    with pytest.warns(CalibrationWarning, match="the validation bags have no bag of a class"):
        plan = make_plan(BagClassifier(), given=negative)
    assert not plan.calibrates
    assert plan.chooses_epoch
    with pytest.raises(InputError, match=r"no bag of a class.*give bags of every class, or set calibration=False"):
        make_plan(BagClassifier(calibration=calibration), given=negative)
    assert make_plan(BagClassifier(), given=KNOWN.select(np.arange(25, 35))).calibrates
    assert not make_plan(BagClassifier(calibration=False), given=negative).calibrates


def test_make_part_computes_class_weights_from_the_training_bags():
    training, held_out = KNOWN.select(np.arange(32)), KNOWN.select(np.arange(32, 40))
    part = make_part(training, held_out, TARGET, "balanced", seed=0)
    expected = np.array([32 / (2 * 30), 32 / (2 * 2)], dtype=np.float32)
    np.testing.assert_array_equal(part.training.importance, expected[training.targets])
    np.testing.assert_array_equal(part.held_out.importance, expected[held_out.targets])
    assert make_part(training, None, TARGET, None, seed=0).held_out is None


@pytest.mark.parametrize(
    "change",
    [
        {"epochs": 3},
        {"validation": None},
        {"scaling": "standard"},
        {"heads": 2},
        {"class_weight": "balanced"},
        {"encoder": "projection"},
        {"context": AddedMean(64)},
        {"pooling": "max"},
        {"augmentation": "auto"},
    ],
    ids=str,
)
def test_describe_fit_depends_on_the_parameters_of_the_fit(change):
    plain, changed = BagClassifier(), BagClassifier(**change)
    assert describe_fit(plain, make_plan(plain), "torch") != describe_fit(changed, make_plan(changed), "torch")


def test_describe_fit_depends_on_the_bags_and_not_on_verbosity_or_memory():
    plain, verbose = BagClassifier(), BagClassifier(verbose=True, memory="1GB")
    assert describe_fit(plain, make_plan(plain), "torch") == describe_fit(verbose, make_plan(verbose), "torch")
    assert describe_fit(plain, make_plan(plain), "torch") != describe_fit(
        plain, make_plan(plain, NEEDLES[:39]), "torch"
    )
