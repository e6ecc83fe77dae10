import numpy as np
import pytest
import torch

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.pooling import Mean, Pooling
from bagwise.training import inference
from bagwise.training.inference import infer

CPU = torch.device("cpu")


def fitted():
    bags = load_dataset("needles", n_bags=20)
    return bags, BagClassifier(epochs=1, random_state=0).fit(bags, bags.labels).model_


def test_packing_does_not_change_what_is_inferred(monkeypatch):
    bags, model = fitted()
    together = infer(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 1)
    alone = infer(model, bags, CPU)
    np.testing.assert_allclose(together.scores, alone.scores, atol=1e-6)
    np.testing.assert_allclose(together.weights, alone.weights, atol=1e-6)


def test_inference_runs_in_evaluation_mode_and_restores_the_mode():
    bags, model = fitted()
    quiet = infer(model, bags, CPU)
    model.train()
    np.testing.assert_array_equal(infer(model, bags, CPU).scores, quiet.scores)
    assert model.training


def test_no_bags_at_all_are_refused():
    bags, model = fitted()
    with pytest.raises(InputError, match="there are no bags to predict; give at least one"):
        infer(model, bags[:0], CPU)


def test_a_large_bag_under_a_pooling_that_knows_no_pieces_is_read_at_once(monkeypatch):
    class Foreign(Pooling):
        title = "foreign"

        def forward(self, values, offsets):
            return Mean()(values, offsets)

    bags, model = fitted()
    model.pooling = Foreign()
    whole = infer(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 2)
    np.testing.assert_allclose(infer(model, bags, CPU).scores, whole.scores, atol=1e-6)
