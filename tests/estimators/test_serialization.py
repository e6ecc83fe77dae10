import json
import re
from itertools import cycle

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.serialization import from_plain, load_parameters, restore_attributes, to_plain
from bagwise.nn.pooling.maximum import LogSumExp, Max
from bagwise.nn.pooling.registry import POOLINGS

NEEDLES = load_dataset("needles", n_bags=20)
QUICK = {"epochs": 1, "batch_size": 8, "random_state": 0}
LABELS = [["a", "b"], [True, False], [2.0, 5.0], [3, 1]]


@pytest.mark.parametrize(("pooling", "labels"), list(zip(POOLINGS, cycle(LABELS), strict=False)), ids=str)
def test_load_estimator_restores_every_pooling_and_label_type_bit_identically(tmp_path, pooling, labels):
    model = BagClassifier(pooling=pooling, level="instance", **QUICK).fit(NEEDLES, labels * 10)
    model.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    np.testing.assert_array_equal(loaded.weigh(NEEDLES), model.weigh(NEEDLES))
    np.testing.assert_array_equal(loaded.predict(NEEDLES), model.predict(NEEDLES))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.get_params() == model.get_params()


def test_load_estimator_restores_image_models_and_class_weights(tmp_path):
    digits = load_dataset("digits", n_bags=10)
    model = BagClassifier(class_weight={0: 1.0, 1: 3.0}, scaling="none", **QUICK).fit(digits, digits.labels)
    model.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    assert loaded.class_weight == {0: 1.0, 1: 3.0}
    np.testing.assert_array_equal(loaded.predict_proba(digits), model.predict_proba(digits))


def test_save_estimator_replaces_the_whole_folder(tmp_path):
    for pooling in ("max", "attention"):
        BagClassifier(pooling=pooling, **QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    assert BagClassifier.load(tmp_path / "model").pooling == "attention"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_load_estimator_requires_custom_modules_and_compares_them(tmp_path):
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(16, 8), nn.ReLU())
    model = BagClassifier(encoder=encoder, pooling=LogSumExp(3.0), **QUICK).fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match=r"a custom encoder, Sequential, .*; pass it again: load\(…, encoder=…\)"):
        BagClassifier.load(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with this encoder"):
        BagClassifier.load(tmp_path / "model", encoder=nn.Linear(16, 8), pooling=LogSumExp(3.0))
    loaded = BagClassifier.load(tmp_path / "model", encoder=encoder, pooling=LogSumExp(3.0))
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    named = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    named.save(tmp_path / "named")
    with pytest.raises(InputError, match="load it without encoder"):
        BagClassifier.load(tmp_path / "named", encoder=encoder)
    with pytest.raises(InputError, match="modules named encoder, context, pooling, augmentation; got head"):
        BagClassifier.load(tmp_path / "named", head=encoder)


@pytest.mark.parametrize("other", [LogSumExp(1.0), Max()], ids=str)
def test_load_estimator_rejects_a_module_that_differs_only_in_its_settings(tmp_path, other):
    BagClassifier(pooling=LogSumExp(20.0), **QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with this pooling"):
        BagClassifier.load(tmp_path / "model", pooling=other)


def test_save_estimator_never_replaces_other_files(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text.tex").write_text("years of work")
    with pytest.raises(InputError, match="contains other files"):
        BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "thesis")
    with pytest.raises(InputError, match="contains other files"):
        save_bags(NEEDLES, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "text.tex").read_text() == "years of work"


def test_load_estimator_names_the_damaged_or_missing_file(tmp_path):
    BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    content = file.read_bytes()
    damaged = bytearray(content)
    damaged[-5] ^= 4
    file.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match=r"model\.safetensors does not match the recorded SHA-256"):
        BagClassifier.load(tmp_path / "model")
    file.write_bytes(content[:-1])
    with pytest.raises(InputError, match=r"model\.safetensors has \d+ bytes"):
        BagClassifier.load(tmp_path / "model")
    file.unlink()
    with pytest.raises(InputError, match=r"model\.safetensors is missing"):
        BagClassifier.load(tmp_path / "model")
    with pytest.raises(InputError, match="is not a folder"):
        BagClassifier.load(tmp_path / "nowhere")


def test_save_estimator_writes_json_and_safetensors_only(tmp_path):
    BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names == ["manifest.json", "model.json", "model.safetensors"]
    json.loads((tmp_path / "model" / "model.json").read_text())
    header = (tmp_path / "model" / "model.safetensors").read_bytes()[8:9]
    assert header == b"{"


@pytest.mark.parametrize(
    "value",
    [
        ("mean", "max"),
        ["mean", ("max", 3)],
        {1: 2.0},
        ExtraTreesClassifier(7, class_weight={0: 1.0, 1: 2.0}),
        make_pipeline(StandardScaler(), LogisticRegression(C=3.0)),
        PooledClassifier(make_pipeline(StandardScaler(), ExtraTreesClassifier(7)), ["mean"]),
    ],
    ids=str,
)
def test_from_plain_inverts_to_plain_after_json(value):
    loaded = from_plain(json.loads(json.dumps(to_plain(value))), BagEstimator.kinds)
    assert type(loaded) is type(value)
    assert repr(loaded) == repr(value)


@pytest.mark.parametrize(
    "name", ["sklearn.base.clone", "sklearn.nowhere.Forest", "sklearn.svm.os", "os.system", "Forest"]
)
def test_from_plain_rejects_names_that_are_not_estimators(name):
    with pytest.raises(InputError, match=rf"a {re.escape(name)}.* unknown to this version"):
        from_plain({"estimator": name, "parameters": {}}, BagEstimator.kinds)


def test_to_plain_rejects_values_that_json_cannot_represent():
    with pytest.raises(InputError, match=r"the parameter RBF\(length_scale=1\) \(RBF\) cannot be saved"):
        to_plain(GaussianProcessClassifier(RBF()))


def test_load_parameters_names_the_tensors_that_differ():
    model = nn.Linear(3, 2)
    load_parameters(model, {"weight": torch.ones(2, 3), "bias": torch.ones(2)})
    assert (model.weight == 1).all()
    with pytest.raises(InputError, match=r"do not fit the model: weight: saved \(2, 4\), model \(2, 3\)"):
        load_parameters(model, {"weight": torch.ones(2, 4), "bias": torch.ones(2)})


def test_load_estimator_rejects_an_estimator_of_another_class(tmp_path):
    BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    message = r"contains a BagClassifier, not a PooledClassifier; load it with BagClassifier\.load or BagEsti"
    with pytest.raises(InputError, match=message):
        PooledClassifier.load(tmp_path / "model")


def test_restore_attributes_sets_the_attributes_that_fit_sets():
    fitted = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    restored = BagClassifier(**QUICK)
    restore_attributes(restored, fitted.target_, fitted.instance_shape_, fitted.seed_)
    for name in ("instance_shape_", "n_features_in_", "extractor_", "seed_"):
        assert getattr(restored, name) == getattr(fitted, name)
    assert restored.likelihood_.name == fitted.likelihood_.name
