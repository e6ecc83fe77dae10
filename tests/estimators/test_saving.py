import json

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

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, BagEstimator, PooledClassifier
from bagwise.estimators.saving import plain, unplain
from bagwise.pooling import POOLINGS, LogSumExp, Max
from bagwise.storage import save_bags

NEEDLES = load_dataset("needles", n_bags=20)
QUICK = {"epochs": 1, "batch_size": 8, "random_state": 0}


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("labels", [["a", "b"] * 10, [True, False] * 10, [2.0, 5.0] * 10, [3, 1] * 10], ids=str)
def test_a_saved_and_loaded_estimator_predicts_the_same_bits(tmp_path, pooling, labels):
    model = BagClassifier(pooling=pooling, level="instance", **QUICK).fit(NEEDLES, labels)
    model.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    np.testing.assert_array_equal(again.weigh(NEEDLES), model.weigh(NEEDLES))
    np.testing.assert_array_equal(again.predict(NEEDLES), model.predict(NEEDLES))
    assert again.classes_.dtype == model.classes_.dtype
    assert again.get_params() == model.get_params()


def test_images_and_class_weights_survive(tmp_path):
    digits = load_dataset("digits", n_bags=10)
    model = BagClassifier(class_weight={0: 1.0, 1: 3.0}, standardize=False, **QUICK).fit(digits, digits.labels)
    model.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model")
    assert again.class_weight == {0: 1.0, 1: 3.0}
    np.testing.assert_array_equal(again.predict_proba(digits), model.predict_proba(digits))


def test_saving_again_replaces_the_whole_folder(tmp_path):
    for pooling in ("max", "attention"):
        BagClassifier(pooling=pooling, **QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    assert BagClassifier.load(tmp_path / "model").pooling == "attention"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_module_of_the_users_own_is_passed_again_and_checked(tmp_path):
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(16, 8), nn.ReLU())
    model = BagClassifier(encoder=encoder, pooling=LogSumExp(3.0), **QUICK).fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="encoder of your own, Sequential; pass it again"):
        BagClassifier.load(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with this encoder"):
        BagClassifier.load(tmp_path / "model", encoder=nn.Linear(16, 8), pooling=LogSumExp(3.0))
    again = BagClassifier.load(tmp_path / "model", encoder=encoder, pooling=LogSumExp(3.0))
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    named = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    named.save(tmp_path / "named")
    with pytest.raises(InputError, match="load it without encoder"):
        BagClassifier.load(tmp_path / "named", encoder=encoder)


@pytest.mark.parametrize("other", [LogSumExp(1.0), Max()], ids=str)
def test_a_module_that_differs_only_in_its_settings_is_refused(tmp_path, other):
    BagClassifier(pooling=LogSumExp(20.0), **QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with this pooling"):
        BagClassifier.load(tmp_path / "model", pooling=other)


def test_saving_never_replaces_files_of_another_kind(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds other files"):
        BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "thesis")
    with pytest.raises(InputError, match="holds other files"):
        save_bags(NEEDLES, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "text.tex").read_text() == "years of work"


def test_damage_and_foreign_folders_are_refused_by_name(tmp_path):
    BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels).save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    whole = file.read_bytes()
    broken = bytearray(whole)
    broken[-5] ^= 4
    file.write_bytes(bytes(broken))
    with pytest.raises(InputError, match=r"model\.safetensors does not have the recorded SHA-256"):
        BagClassifier.load(tmp_path / "model")
    file.write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"model\.safetensors has \d+ bytes"):
        BagClassifier.load(tmp_path / "model")
    file.unlink()
    with pytest.raises(InputError, match=r"model\.safetensors is missing"):
        BagClassifier.load(tmp_path / "model")
    with pytest.raises(InputError, match="is not a folder"):
        BagClassifier.load(tmp_path / "nowhere")


def test_the_files_hold_no_pickle(tmp_path):
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
def test_parameters_come_back_from_json(value):
    again = unplain(json.loads(json.dumps(plain(value))), BagEstimator.kinds)
    assert type(again) is type(value)
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    "name", ["sklearn.base.clone", "sklearn.nowhere.Forest", "sklearn.svm.os", "os.system", "Forest"]
)
def test_a_file_cannot_name_anything_but_estimators(name):
    with pytest.raises(InputError, match="unknown to this"):
        unplain({"estimator": name, "parameters": {}}, BagEstimator.kinds)


def test_a_parameter_that_json_cannot_hold_is_refused():
    with pytest.raises(InputError, match=r"the parameter RBF\(length_scale=1\) \(RBF\) cannot be saved"):
        plain(GaussianProcessClassifier(RBF()))
