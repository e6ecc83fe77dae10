import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.published import adopt
from published.formulas import clam, clam_layers, layer, named


@pytest.mark.parametrize("gated", [True, False], ids=["gated", "plain"])
@pytest.mark.parametrize("dropout", [True, False], ids=["dropout", "none"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prefix", ["", "module.", "model.module."])
def test_it_predicts_what_the_formula_gives(tmp_path, gated, dropout, n_classes, prefix):
    layers = clam_layers(gated=gated, dropout=dropout, n_classes=n_classes)
    torch.save(named(layers, prefix), tmp_path / "clam.pt")
    model = adopt(tmp_path / "clam.pt")
    for size in (1, 2, 40):
        bag = np.random.default_rng(size).normal(size=(size, 24))
        probabilities, weights = clam(layers, bag)
        np.testing.assert_allclose(model.predict_proba([bag])[0], probabilities, atol=1e-6)
        np.testing.assert_allclose(model.weigh([bag]), weights, atol=1e-6)


def refused(tmp_path, layers):
    torch.save(named(layers), tmp_path / "clam.pt")
    with pytest.raises(InputError) as refusal:
        adopt(tmp_path / "clam.pt")
    return str(refusal.value)


def test_what_would_predict_otherwise_is_refused(tmp_path):
    layers, draws = clam_layers(), np.random.default_rng(0)
    assert "holds more than such a model: extra.weight" in refused(
        tmp_path, layers | {"extra": {"weight": np.zeros(2)}}
    )
    branches = {name: each for name, each in layers.items() if name != "classifiers"}
    many = branches | {f"classifiers.{number}": layer(draws, 512, 1) for number in range(2)}
    assert "several branches" in refused(tmp_path, many)
    narrow = layers | {"attention_net.0": layer(draws, 24, 256)}
    assert "256 numbers" in refused(tmp_path, narrow)
    missing = {name: each for name, each in layers.items() if "attention_b" not in name}
    assert "has 0 layers" in refused(tmp_path, missing)
