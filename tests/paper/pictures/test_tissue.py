import numpy as np
import pytest
from PIL import Image

from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier
from bagwise.explain.heatmaps import rescaled
from bagwise.paper.pictures.tissue import TITLES, draw_example
from real_data import HOME, needs_real_data


@pytest.fixture
def bags(monkeypatch):
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    return load_dataset("colon-cancer")


@needs_real_data("colon-cancer")
def test_an_example_has_five_panels_made_of_the_two_models_numbers(bags, tmp_path):
    network = {"encoder": "nucleus cnn", "epochs": 1, "most_instances": 5, "engine": "torch", "random_state": 0}
    few = bags[[0, 1, 98, 99]]
    attention = BagClassifier(pooling="attention", **network).fit(few, np.array([0, 1, 0, 1]))
    instances = BagClassifier(pooling="max", level="instance", **network).fit(few, np.array([0, 1, 0, 1]))
    path = draw_example(tmp_path, "example", bags[[5]], attention, instances)
    with Image.open(path) as picture:
        assert picture.width > 3 * picture.height
    with np.load(tmp_path / "example.npz") as found:
        assert found["pictures"].shape == (len(TITLES), 500, 500, 3)
        np.testing.assert_array_equal(found["weights"], attention.weigh(bags[[5]]))
        scores = instances.score_instances(bags[[5]])
        np.testing.assert_allclose(found["probabilities"], 1 / (1 + np.exp(-scores)), rtol=1e-5)
        brightest = int(np.argmax(found["weights"]))
        x, y = bags[[5]].positions[brightest].astype(int)
        assert rescaled(found["weights"])[brightest] == 1
        np.testing.assert_array_equal(found["pictures"][3][y : y + 27, x : x + 27], bags[[5]].instances[brightest])
