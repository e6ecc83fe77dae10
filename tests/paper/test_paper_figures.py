import numpy as np
import pytest
from PIL import Image

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.explain.heatmaps.scales import rescale
from bagwise.paper.paper_figures import (
    DIGIT_BAGS,
    TISSUE_TITLES,
    find_first_bag,
    load_or_train,
    plot_tissue_example,
)
from real_data import HOME, needs_real_data


@pytest.fixture
def colon_bags(monkeypatch):
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    return load_dataset("colon-cancer")


def test_load_or_train_trains_once_per_set_of_parameters(tmp_path):
    bags = load_dataset("needles", n_bags=20)
    first = load_or_train(tmp_path / "model", bags, epochs=1)
    written = (tmp_path / "model").stat().st_mtime_ns
    again = load_or_train(tmp_path / "model", bags, epochs=1)
    assert (again.predict_proba(bags) == first.predict_proba(bags)).all()
    assert (tmp_path / "model").stat().st_mtime_ns == written
    assert load_or_train(tmp_path / "model", bags, epochs=2).epochs == 2


@pytest.mark.parametrize(
    ("kind", "expected"), [("negative", 0), ("single nine", 2), ("several nines", 3), ("thirteen images", 4)]
)
def test_find_first_bag_selects_by_labels_and_size(kind, expected):
    nines = [[0, 0], [1, 0, 1], [0, 1], [1, 1, 1], [1] * 13]
    offsets = np.cumsum([0, *map(len, nines)])
    bags = Bags(np.zeros((offsets[-1], 2)), offsets, instance_labels=np.concatenate(nines))
    assert find_first_bag(bags, DIGIT_BAGS[kind]) == expected


@needs_real_data("colon-cancer")
def test_plot_tissue_example_has_five_panels_of_two_models(colon_bags, tmp_path):
    network = {"encoder": "nucleus cnn", "epochs": 1, "most_instances": 5, "engine": "torch", "random_state": 0}
    training, labels = colon_bags[[0, 1, 98, 99]], np.array([0, 1, 0, 1])
    attention = BagClassifier(pooling="attention", **network).fit(training, labels)
    instances = BagClassifier(pooling="max", level="instance", **network).fit(training, labels)
    bag = colon_bags[[5]]
    path = plot_tissue_example(tmp_path, "example", bag, attention, instances)
    with Image.open(path) as picture:
        assert picture.width > 3 * picture.height
    with np.load(tmp_path / "example.npz") as arrays:
        assert arrays["pictures"].shape == (len(TISSUE_TITLES), 500, 500, 3)
        np.testing.assert_array_equal(arrays["weights"], attention.weigh(bag))
        scores = instances.score_instances(bag)
        np.testing.assert_allclose(arrays["probabilities"], 1 / (1 + np.exp(-scores)), rtol=1e-5)
        heaviest = int(np.argmax(arrays["weights"]))
        x, y = bag.positions[heaviest].astype(int)
        assert rescale(arrays["weights"])[heaviest] == 1
        np.testing.assert_array_equal(arrays["pictures"][3][y : y + 27, x : x + 27], bag.instances[heaviest])
