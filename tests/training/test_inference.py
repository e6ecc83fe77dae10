import numpy as np
import pytest
import torch

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.network import BagClassifier
from bagwise.nn.pooling.base import Pooling
from bagwise.nn.pooling.linear import Mean
from bagwise.training import inference
from bagwise.training.inference import run_inference

CPU = torch.device("cpu")


def fit_model():
    bags = load_dataset("needles", n_bags=20)
    return bags, BagClassifier(epochs=1, random_state=0).fit(bags, bags.labels).model_


def test_run_inference_does_not_depend_on_the_packing(monkeypatch):
    bags, model = fit_model()
    packed = run_inference(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 1)
    single = run_inference(model, bags, CPU)
    np.testing.assert_allclose(packed.scores, single.scores, atol=1e-6)
    np.testing.assert_allclose(packed.weights, single.weights, atol=1e-6)


def test_run_inference_uses_evaluation_mode_and_restores_the_mode():
    bags, model = fit_model()
    expected = run_inference(model, bags, CPU)
    model.train()
    np.testing.assert_array_equal(run_inference(model, bags, CPU).scores, expected.scores)
    assert model.training


def test_run_inference_rejects_zero_bags():
    bags, model = fit_model()
    with pytest.raises(InputError, match="there are no bags to predict; give at least one"):
        run_inference(model, bags[:0], CPU)


def test_run_inference_reads_a_large_bag_at_once_if_its_pooling_is_not_additive(monkeypatch):
    class CustomPooling(Pooling):
        title = "custom"

        def forward(self, values, offsets):
            return Mean()(values, offsets)

    bags, model = fit_model()
    model.pooling = CustomPooling()
    expected = run_inference(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 2)
    np.testing.assert_allclose(run_inference(model, bags, CPU).scores, expected.scores, atol=1e-6)
