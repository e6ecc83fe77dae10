import numpy as np
import pytest

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.estimators.contract import is_list_of_bags

BAGS = [np.random.default_rng(0).normal(size=(size, 3)) for size in (2, 1, 4, 3, 2, 5)]
LABELS = ["no", "yes", "no", "yes", "yes", "no"]


def make():
    return BagClassifier(epochs=1, random_state=0, batch_size=3)


def test_bags_a_list_and_an_object_array_are_the_same_input():
    packed = Bags.from_list(BAGS)
    loose = np.empty(len(BAGS), dtype=object)
    loose[:] = BAGS
    expected = make().fit(packed, LABELS).predict_proba(packed)
    for form in (BAGS, tuple(BAGS), loose, [bag.tolist() for bag in BAGS]):
        np.testing.assert_array_equal(make().fit(form, LABELS).predict_proba(form), expected)


def test_a_row_of_a_2d_array_is_a_bag_of_one_instance():
    rows = np.random.default_rng(1).normal(size=(8, 3))
    labels = [0, 1] * 4
    one_each = Bags(rows, np.arange(9))
    expected = make().fit(one_each, labels).predict_proba(one_each)
    np.testing.assert_array_equal(make().fit(rows, labels).predict_proba(rows), expected)


@pytest.mark.parametrize(
    "labels", [["a", "b"] * 3, [-1, 1] * 3, [True, False] * 3, [2.0, 5.0] * 3, [7, 3, 9] * 2], ids=str
)
def test_any_label_values(labels):
    model = make().fit(BAGS, labels)
    assert set(model.predict(BAGS)) <= set(labels)
    assert model.classes_.tolist() == sorted(set(labels))
    np.testing.assert_allclose(model.predict_proba(BAGS).sum(axis=1), 1)


def test_targets_arrive_as_y_and_labels_of_the_bags_are_never_read():
    packed = Bags.from_list(BAGS, labels=LABELS)
    scrambled = packed.replace(labels=LABELS[::-1])
    one, other = make().fit(packed, LABELS), make().fit(scrambled, LABELS)
    np.testing.assert_array_equal(one.predict_proba(packed), other.predict_proba(scrambled))


def test_wrong_input_is_refused_with_what_is_needed():
    model = make().fit(BAGS, LABELS)
    with pytest.raises(InputError, match="bag 'x' has 5 features, the model needs 3 features"):
        model.predict(Bags.from_list([np.zeros((2, 5))], names=["x"]))
    with pytest.raises(InputError, match="y holds 2 labels for 6 bags"):
        make().fit(BAGS, LABELS[:2])
    with pytest.raises(InputError, match="one class only"):
        make().fit(BAGS, ["no"] * 6)
    with pytest.raises(InputError, match="target y is None"):
        make().fit(BAGS)


def test_what_counts_as_a_list_of_bags():
    assert is_list_of_bags([np.zeros((2, 3))])
    assert not is_list_of_bags([[1.0, 2.0], [3.0, 4.0]])
    assert not is_list_of_bags(np.zeros((2, 3)))
    assert not is_list_of_bags([])


def test_features_of_another_extractor_are_refused_even_at_the_same_width(tmp_path):
    packed = Bags.from_list(BAGS, extractor="resnet50")
    model = make().fit(packed, LABELS)
    model.save(tmp_path / "model")
    for known in (model, BagClassifier.load(tmp_path / "model")):
        with pytest.raises(InputError, match="features of 'uni', the model was trained on those of 'resnet50'"):
            known.predict(Bags.from_list(BAGS, extractor="uni"))
        assert len(known.predict(Bags.from_list(BAGS))) == 6
