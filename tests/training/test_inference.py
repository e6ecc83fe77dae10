import numpy as np
import pytest
import torch

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.pooling.base import Pooling
from bagwise.nn.pooling.linear import Mean
from bagwise.training import inference
from bagwise.training.inference import run_inference
from bagwise.training.streaming.prediction import stream_prediction
from contexts import PerInstance, SelfAttention, every_context

CPU = torch.device("cpu")


def fit_model():
    bags = load_dataset("needles", n_bags=20)
    return bags, BagClassifier(epochs=1, validation=None, random_state=0).fit(bags, bags.labels).model_


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


def test_run_inference_reads_a_large_bag_in_pieces_if_its_context_supports_streaming(monkeypatch):
    bags, model = fit_model()
    model.context = PerInstance(64)
    expected = run_inference(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 2)
    streamed = []
    monkeypatch.setattr(inference, "stream_prediction", lambda *a: streamed.append(a) or stream_prediction(*a))
    np.testing.assert_allclose(run_inference(model, bags, CPU).scores, expected.scores, atol=1e-6)
    assert len(streamed) == (bags.sizes > 2).sum()


@every_context
def test_run_inference_never_divides_the_bags_of_a_context(monkeypatch, kind):
    bags, model = fit_model()
    model.context = kind(64)
    expected = run_inference(model, bags, CPU)
    monkeypatch.setattr(inference, "ROWS_AT_ONCE", 2)
    found = run_inference(model, bags, CPU)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-5)


def test_run_inference_rejects_a_bag_that_a_context_needs_whole_and_that_does_not_fit():
    _, model = fit_model()
    model.context = SelfAttention(64)
    rows = np.zeros((3010, 16), dtype=np.float32)
    bags = Bags(rows, np.array([0, 10, 3010]), names=np.array(["small", "large"]))
    message = (
        r"^bag 'large' has 3,000 instances and needs about 7\dMB of memory, more than the limit of 50MB; the context "
        r"SelfAttention needs all instances .* cannot be read in pieces; use a larger memory limit, memory='7\dMB'$"
    )
    with pytest.raises(InputError, match=message):
        run_inference(model, bags, CPU, memory=50e6)
    assert run_inference(model, bags, CPU, memory=80e6).scores.shape == (2, 1)
