import numpy as np
import pytest

from bagwise.explain import effective_number
from bagwise.runs import execute
from bagwise.showing.overview import overview_rows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = {"data": "needles", "options": {"n_bags": 30}, "test": None, "split_seed": 1}
    parameters = {"pooling": "mean", "epochs": 1, "random_state": 1, "engine": "torch"}
    return execute(tmp_path_factory.mktemp("runs") / "run", {"data": data, "parameters": parameters})


def test_every_test_bag_has_its_prediction_and_what_its_weights_are_worth(run):
    rows = overview_rows(run)
    assert [row["bag"] for row in rows] == [row["bag"] for row in run.predictions]
    assert all(row["probability 1"] == known["probability 1"] for row, known in zip(rows, run.predictions, strict=True))
    found = np.array([float(row["effective_number"]) for row in rows])
    np.testing.assert_allclose(found, effective_number(run.weights, run.offsets))
    assert all("flat" in row["warnings"] for row in rows if int(row["n_instances"]) >= 5)
