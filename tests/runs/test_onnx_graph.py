import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.nn.context import Context
from bagwise.nn.pooling.base import Pooled, Pooling, ProbabilityPooling
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.nn.segments import segment_expand, segment_softmax, segment_split, segment_weighted_sum
from bagwise.runs import onnx_graph
from bagwise.runs.onnx_graph import SingleBagNetwork, SymbolicOffsets, check_onnx_packages, write_onnx
from contexts import AddedMean, SelfAttention, every_context
from unchecked import unchecked

VARIANTS = [
    {"pooling": "attention", "level": "instance"},
    {"pooling": "max"},
    {"pooling": "mean", "level": "instance"},
    {"pooling": "noisy-or", "level": "instance"},
    {"pooling": "noisy-and", "level": "instance"},
    {"pooling": "log-sum-exp", "level": "instance"},
    {"pooling": "sum", "heads": 1},
    {"pooling": "gated attention", "heads": 3, "validation": 0.4, "calibration": True},
    {"pooling": "mean", "connections": "residual"},
]


@pytest.fixture(scope="module")
def needles():
    return load_dataset("needles", n_bags=12)


def fit(bags, **parameters):
    quick = {"epochs": 1, "validation": 2, "random_state": 0, "engine": "torch"}
    return BagClassifier(**{**quick, **parameters}).fit(bags, bags.labels)


def sample_bag(size, model):
    return np.random.default_rng(size).normal(size=(size, *model.instance_shape_)).astype(np.float32)


def assert_network_agrees(model):
    """One bag through the network of the graph, against the library's own prediction."""
    network = SingleBagNetwork(model)
    for size in (1, 2, 7, 300):
        bag = sample_bag(size, model)
        with torch.no_grad(), unchecked():
            probabilities, weights = network(torch.from_numpy(bag))
        np.testing.assert_allclose(probabilities.numpy(), model.predict_proba([bag])[0], atol=1e-6)
        np.testing.assert_allclose(weights.numpy(), model.weigh([bag]), atol=1e-6)
        assert weights.sum().item() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("level", ["embedding", "instance"])
@pytest.mark.parametrize("pooling", sorted(POOLINGS))
def test_single_bag_network_predicts_as_the_model_with_every_pooling(needles, pooling, level):
    if level == "embedding" and issubclass(POOLINGS[pooling], ProbabilityPooling):
        pytest.skip("probabilities are not embeddings")
    assert_network_agrees(fit(needles, pooling=pooling, level=level))


@pytest.mark.parametrize(
    "parameters",
    [
        {"heads": 3},
        {"pooling": "mean", "connections": "deep supervision"},
        {"validation": 0.4, "calibration": True},
    ],
    ids=["heads", "connections", "calibration"],
)
def test_single_bag_network_includes_heads_connections_and_calibration(needles, parameters):
    assert_network_agrees(fit(needles, **parameters))


def test_single_bag_network_predicts_several_classes(needles):
    assert_network_agrees(fit(needles.replace(labels=np.arange(12) % 3)))


@pytest.mark.parametrize("validation", [None, 3])
def test_single_bag_network_rejects_a_pooling_that_is_not_additive(needles, validation):
    class CustomPooling(Pooling):
        title = "custom"

        def forward(self, values, offsets):
            weights = segment_softmax(values[:, :1], offsets)
            return Pooled(segment_weighted_sum(values, weights, offsets), weights)

    with pytest.raises(InputError, match=r"CustomPooling cannot be exported.*AdditivePooling"):
        SingleBagNetwork(fit(needles, pooling=CustomPooling(), encoder=nn.Identity(), validation=validation))


@every_context
@pytest.mark.parametrize(("level", "pooling"), [("embedding", "gated attention"), ("instance", "max")])
def test_single_bag_network_includes_the_context(needles, kind, level, pooling):
    assert_network_agrees(fit(needles, context=kind(64), level=level, pooling=pooling))


def test_symbolic_offsets_work_in_segments(needles):
    values = torch.from_numpy(sample_bag(5, fit(needles)))
    offsets = torch.tensor([0, 5])
    with unchecked():
        symbolic = SymbolicOffsets(5)
        assert (len(symbolic), symbolic[0], symbolic[-1], symbolic.diff().tolist()) == (2, 0, 5, [5])
        torch.testing.assert_close(segment_expand(values[:1], symbolic), segment_expand(values[:1], offsets))
        torch.testing.assert_close(segment_softmax(values, symbolic), segment_softmax(values, offsets))
        assert [part.tolist() for part in segment_split(values, symbolic)] == [values.tolist()]
        torch.testing.assert_close(
            segment_weighted_sum(values, values, symbolic), segment_weighted_sum(values, values, offsets)
        )


def open_session(model, path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    with unchecked():
        write_onnx(model, path)
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def assert_session_agrees(model, session):
    for size in (1, 2, 7, 1_000, 100_000):
        bag = sample_bag(size, model)
        probabilities, weights = session.run(["probabilities", "weights"], {"instances": bag})
        np.testing.assert_allclose(probabilities, model.predict_proba([bag])[0], atol=1e-5)
        np.testing.assert_allclose(weights, model.weigh([bag]), atol=1e-5)


def test_write_onnx_predicts_bags_of_any_size_and_has_metadata(needles, tmp_path):
    model = fit(needles)
    session = open_session(model, tmp_path / "model.onnx")
    assert_session_agrees(model, session)
    metadata = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
    assert metadata["classes"] == model.classes_.tolist()
    assert metadata["instance_shape"] == list(model.instance_shape_)
    assert metadata["decision_threshold"] == 0.5
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_write_onnx_reads_images_as_they_are_stored(tmp_path):
    generator = np.random.default_rng(0)
    images = [generator.integers(0, 256, (size, 28, 28)).astype(np.uint8) for size in (3, 5, 2, 4)]
    model = BagClassifier(epochs=1, random_state=0, engine="torch").fit(images, [0, 1, 0, 1])
    session = open_session(model, tmp_path / "model.onnx")
    for bag in images:
        probabilities, weights = session.run(None, {"instances": bag.astype(np.float32)})
        np.testing.assert_allclose(probabilities, model.predict_proba([bag])[0], atol=1e-5)
        np.testing.assert_allclose(weights, model.weigh([bag]), atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("parameters", VARIANTS, ids=lambda parameters: " ".join(map(str, parameters.values())))
def test_write_onnx_predicts_as_the_model_with_other_networks(needles, tmp_path, parameters):
    model = fit(needles, **parameters)
    assert_session_agrees(model, open_session(model, tmp_path / "model.onnx"))


@pytest.mark.parametrize("kind", [AddedMean, pytest.param(SelfAttention, marks=pytest.mark.full)])
def test_write_onnx_predicts_as_the_model_with_a_context(needles, tmp_path, kind):
    model = fit(needles, context=kind(64))
    session = open_session(model, tmp_path / "model.onnx")
    for size in (1, 2, 7, 500):
        bag = sample_bag(size, model)
        probabilities, weights = session.run(["probabilities", "weights"], {"instances": bag})
        np.testing.assert_allclose(probabilities, model.predict_proba([bag])[0], atol=1e-5)
        np.testing.assert_allclose(weights, model.weigh([bag]), atol=1e-5)


class LoopOverBags(Context):
    """A context whose computation depends on the numbers in the offsets, so that it cannot be traced."""

    def forward(self, embeddings, offsets):
        bags = pairwise(offsets.tolist())
        return torch.cat([embeddings[start:end] - embeddings[start:end].mean(dim=0) for start, end in bags])


def test_write_onnx_rejects_a_context_that_cannot_be_traced(needles, tmp_path):
    model = fit(needles, context=LoopOverBags())
    with unchecked(), pytest.raises(InputError, match=r"the context LoopOverBags cannot be exported.*segment_split"):
        write_onnx(model, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_write_onnx_rejects_other_estimators_by_name(needles, tmp_path):
    with pytest.raises(InputError, match="a NaiveClassifier cannot be written as ONNX"):
        write_onnx(NaiveClassifier().fit(needles, needles.labels), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_check_onnx_packages_names_missing_packages_and_how_to_install_them(monkeypatch):
    monkeypatch.setattr(onnx_graph, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs onnx and onnxscript: pip install 'bagwise\[onnx\]'"):
        check_onnx_packages()
