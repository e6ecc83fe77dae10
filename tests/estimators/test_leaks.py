import warnings

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.leaks import MIN_BAGS, find_leaks
from bagwise.estimators.registry import build_method

GENERATOR = np.random.default_rng(0)
LABELS = np.arange(30) % 3
NAMES = ("mass", "code", "site", "half")


def make_bags(labels):
    """Bags with an honest feature, one with a value per label, a constant, and one that leaks for most bags only."""
    rows = [
        np.column_stack(
            [
                GENERATOR.normal(size=3),
                np.full(3, 10.0 - label),
                np.full(3, 4.0),
                np.where(np.arange(3) + 3 * (number == 7) < 5, label, 9),
            ]
        )
        for number, label in enumerate(labels)
    ]
    return Bags.from_list(rows, labels=labels, feature_names=NAMES)


def test_find_leaks_finds_one_value_per_label_and_nothing_else():
    assert find_leaks(make_bags(LABELS), LABELS).tolist() == [1]
    assert find_leaks(make_bags(LABELS % 2), LABELS % 2).tolist() == [1]


def test_find_leaks_finds_nothing_with_few_bags_of_a_label_or_with_images():
    few = np.array([0] * 20 + [1] * (MIN_BAGS - 1))
    assert len(find_leaks(make_bags(few), few)) == 0
    images = Bags.from_list([np.full((1, 2, 2), label) for label in LABELS])
    assert len(find_leaks(images, LABELS)) == 0


def test_find_leaks_finds_nothing_if_labels_are_all_different():
    """Any number that is constant within a bag, such as an age, would determine a continuous label."""
    ages = np.arange(20.0)
    assert len(find_leaks(Bags.from_list([[[age]] for age in ages]), ages)) == 0


def test_find_leaks_stops_reading_when_no_feature_can_be_a_leak(monkeypatch):
    bags = Bags.from_list([GENERATOR.normal(size=(4, 2)) for _ in range(50)])
    monkeypatch.setattr("bagwise.estimators.leaks.VALUES_PER_BLOCK", 8)
    read = []
    iterate = Bags.iterate_blocks
    monkeypatch.setattr(
        Bags, "iterate_blocks", lambda self, rows: (read.append(len(block)) or block for block in iterate(self, rows))
    )
    assert len(find_leaks(bags, np.arange(50) % 2)) == 0
    assert sum(read) == 4


@pytest.mark.parametrize(
    "model", [BagClassifier(epochs=1, validation=None, random_state=0), build_method("extra trees")], ids=str
)
def test_fit_warns_of_a_leak_by_name(model):
    bags = make_bags(LABELS)
    with pytest.warns(
        UserWarning, match=r"feature 'code' of the training bags determines the label.*--data-option drop=code$"
    ):
        model.fit(bags, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(bags.map(lambda rows: rows[:, [0, 2]]), LABELS)


def test_fit_warns_of_a_second_label_by_name_but_not_of_a_coordinate():
    labels, other = LABELS % 2, GENERATOR.permutation(LABELS % 2)
    rows = [np.column_stack([GENERATOR.normal(size=(3, 2)), np.full(3, value)]) for value in other]
    bags = Bags.from_list(rows, labels=labels, feature_names=("x", "y", "class"))
    model = build_method("naive")
    with pytest.warns(UserWarning, match="feature 'class' of the training bags has the name of a label.*drop=class"):
        model.fit(bags, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(bags.replace(feature_names=("x", "y", "dose")), labels)


def test_fit_warns_once_of_a_feature_that_is_a_leak_and_named_like_a_label():
    bags = make_bags(LABELS).replace(feature_names=("mass", "target", "site", "half"))
    with pytest.warns(UserWarning, match="feature 'target' of the training bags determines the label") as caught:
        build_method("naive").fit(bags, LABELS)
    assert len(caught) == 1
