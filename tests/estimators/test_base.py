import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier

BAGS = [np.random.default_rng(0).normal(size=(size, 3)) for size in (2, 1, 4, 3, 2, 5)]
LABELS = ["no", "yes", "no", "yes", "yes", "no"]


def make_model():
    return BagClassifier(epochs=1, random_state=0, batch_size=3)


def test_fit_accepts_bags_lists_and_object_arrays_with_the_same_result():
    packed = Bags.from_list(BAGS)
    object_array = np.empty(len(BAGS), dtype=object)
    object_array[:] = BAGS
    expected = make_model().fit(packed, LABELS).predict_proba(packed)
    for form in (BAGS, tuple(BAGS), object_array, [bag.tolist() for bag in BAGS]):
        np.testing.assert_array_equal(make_model().fit(form, LABELS).predict_proba(form), expected)


def test_fit_treats_each_row_of_a_2d_array_as_a_bag_of_one_instance():
    rows = np.random.default_rng(1).normal(size=(8, 3))
    labels = [0, 1] * 4
    singletons = Bags(rows, np.arange(9))
    expected = make_model().fit(singletons, labels).predict_proba(singletons)
    np.testing.assert_array_equal(make_model().fit(rows, labels).predict_proba(rows), expected)


@pytest.mark.parametrize(
    "labels", [["a", "b"] * 3, [-1, 1] * 3, [True, False] * 3, [2.0, 5.0] * 3, [7, 3, 9] * 2], ids=str
)
def test_predict_returns_labels_of_the_training_type(labels):
    model = make_model().fit(BAGS, labels)
    assert set(model.predict(BAGS)) <= set(labels)
    assert model.classes_.tolist() == sorted(set(labels))
    np.testing.assert_allclose(model.predict_proba(BAGS).sum(axis=1), 1)


def test_fit_rejects_invalid_labels_and_seeds():
    with pytest.raises(InputError, match="y has 2 labels for 6 bags"):
        make_model().fit(BAGS, LABELS[:2])
    with pytest.raises(InputError, match="one class only"):
        make_model().fit(BAGS, ["no"] * 6)
    with pytest.raises(InputError, match="target y is None"):
        make_model().fit(BAGS)
    with pytest.raises(InputError, match="random_state is -1"):
        make_model().set_params(random_state=-1).fit(BAGS, LABELS)


def test_predict_rejects_instances_of_another_width_and_names_the_bag():
    model = make_model().fit(BAGS, LABELS)
    message = r"bag 'x' has 5 features, the model needs 3 features \(trained on bags of the classes no, yes\)"
    with pytest.raises(InputError, match=message):
        model.predict(Bags.from_list([np.zeros((2, 5))], names=["x"]))


def test_predict_rejects_features_of_another_extractor_even_at_the_same_width(tmp_path):
    packed = Bags.from_list(BAGS, extractor="resnet50")
    model = make_model().fit(packed, LABELS)
    model.save(tmp_path / "model")
    for known in (model, BagClassifier.load(tmp_path / "model")):
        with pytest.raises(InputError, match="features of 'uni', but the model was trained on features of 'resnet50'"):
            known.predict(Bags.from_list(BAGS, extractor="uni"))
        assert len(known.predict(Bags.from_list(BAGS))) == 6


def test_random_state_accepts_a_numpy_random_state():
    models = [make_model().set_params(random_state=np.random.RandomState(3)).fit(BAGS, LABELS) for _ in range(2)]
    np.testing.assert_array_equal(models[0].predict_proba(BAGS), models[1].predict_proba(BAGS))
    assert models[0].seed_ == models[1].seed_
