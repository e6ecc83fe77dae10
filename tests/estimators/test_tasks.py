import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.tasks import Known, class_factors, part, tasks

NEEDLES = load_dataset("needles", n_bags=40)
CLASSES = np.array(["no", "yes"])
KNOWN = Known(NEEDLES, np.array([0] * 30 + [1] * 10))


def test_a_part_holds_out_bags_of_every_class_and_loses_none():
    kept, held = part(KNOWN, 0.2, seed=3)
    assert np.bincount(held.targets).tolist() == [6, 2]
    assert sorted([*kept.bags.names, *held.bags.names]) == sorted(NEEDLES.names)
    assert part(KNOWN, 0.2, seed=3)[1].bags.names.tolist() == held.bags.names.tolist()


def test_the_factors_of_both_follow_from_the_training_bags():
    kept, held = Known(NEEDLES[:32], KNOWN.targets[:32]), Known(NEEDLES[32:], KNOWN.targets[32:])
    training, judged = tasks(kept, held, CLASSES, "balanced")
    expected = np.array([32 / (2 * 30), 32 / (2 * 2)], dtype=np.float32)
    np.testing.assert_array_equal(training.importance, expected[kept.targets])
    np.testing.assert_array_equal(judged.importance, expected[held.targets])
    assert tasks(kept, None, CLASSES, None)[1] is None


def test_balanced_classes_count_alike_and_bags_as_much_as_before():
    factors = class_factors(KNOWN.targets, CLASSES, "balanced")[KNOWN.targets]
    assert factors[KNOWN.targets == 1].sum() == pytest.approx(factors[KNOWN.targets == 0].sum())
    assert factors.mean() == pytest.approx(1.0)


def test_a_wrong_weight_of_classes_is_named():
    assert class_factors(KNOWN.targets, CLASSES, {"no": 1.0, "yes": 3.0}).tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match=r"class_weight: .*; give None, 'balanced', or a factor for each class"):
        class_factors(KNOWN.targets, CLASSES, "heavy")
