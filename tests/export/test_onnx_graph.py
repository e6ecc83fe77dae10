import json

import numpy as np
import pytest

from bagwise import BagClassifier, load_dataset
from bagwise.errors import InputError
from bagwise.estimators import NaiveClassifier
from bagwise.export import onnx_graph, write_onnx
from unchecked import unchecked

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
SIZES = (1, 2, 7, 1_000, 100_000)
VARIED = [
    {"pooling": "attention", "level": "instance"},
    {"pooling": "max"},
    {"pooling": "mean", "level": "instance"},
    {"pooling": "noisy-or", "level": "instance"},
    {"pooling": "noisy-and", "level": "instance"},
    {"pooling": "log-sum-exp", "level": "instance"},
    {"pooling": "sum", "heads": 1},
    {"pooling": "gated attention", "heads": 3, "validation": 0.4, "temperature": True},
    {"pooling": "mean", "connections": "residual"},
]


@pytest.fixture(scope="module")
def needles():
    return load_dataset("needles", n_bags=12)


def session_of(model, path):
    with unchecked():
        write_onnx(model, path)
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def assert_same(model, session, sizes=SIZES):
    for size in sizes:
        draws = np.random.default_rng(size).normal(size=(size, *model.instance_shape_)).astype(np.float32)
        probabilities, weights = session.run(["probabilities", "weights"], {"instances": draws})
        np.testing.assert_allclose(probabilities, model.predict_proba([draws])[0], atol=1e-5)
        np.testing.assert_allclose(weights, model.weigh([draws]), atol=1e-5)


def test_one_graph_agrees_for_bags_of_any_size_and_says_what_it_is(needles, tmp_path):
    model = BagClassifier(epochs=1, random_state=0, engine="torch").fit(needles, needles.labels)
    session = session_of(model, tmp_path / "model.onnx")
    assert_same(model, session)
    facts = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
    assert facts["classes"] == model.classes_.tolist()
    assert facts["instance_shape"] == list(model.instance_shape_)
    assert facts["decision_threshold"] == 0.5
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_images_are_read_as_they_are_stored(tmp_path):
    draws = np.random.default_rng(0)
    pictures = [draws.integers(0, 256, (size, 28, 28)).astype(np.uint8) for size in (3, 5, 2, 4)]
    model = BagClassifier(epochs=1, random_state=0, engine="torch").fit(pictures, [0, 1, 0, 1])
    session = session_of(model, tmp_path / "model.onnx")
    for bag in pictures:
        probabilities, weights = session.run(None, {"instances": bag.astype(np.float32)})
        np.testing.assert_allclose(probabilities, model.predict_proba([bag])[0], atol=1e-5)
        np.testing.assert_allclose(weights, model.weigh([bag]), atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("parameters", VARIED, ids=lambda each: " ".join(map(str, each.values())))
def test_every_kind_of_network_agrees(needles, tmp_path, parameters):
    model = BagClassifier(epochs=1, random_state=0, engine="torch", **parameters).fit(needles, needles.labels)
    assert_same(model, session_of(model, tmp_path / "model.onnx"))


def test_what_is_no_network_is_refused(needles, tmp_path):
    with pytest.raises(InputError, match="a NaiveClassifier cannot be written as ONNX"):
        write_onnx(NaiveClassifier().fit(needles, needles.labels), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_missing_packages_are_named_with_the_way_to_get_them(monkeypatch):
    monkeypatch.setattr(onnx_graph, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs onnx and onnxscript: pip install 'bagwise\[onnx\]'"):
        onnx_graph.check_packages()
