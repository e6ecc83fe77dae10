import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.published import adopt
from published.formulas import digit_layers, digits, layer, named


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"branches": 2},
        {"shift": 1},
        {"gated": True},
        {"gated": True, "last": "attention_weights", "shift": 1},
    ],
    ids=["plain", "branches", "shifted", "gated", "older gated"],
)
def test_it_predicts_what_the_formula_gives(tmp_path, words):
    layers = digit_layers(**words)
    torch.save({"state_dict": named(layers, "module.")}, tmp_path / "digits.pt")
    model = adopt(tmp_path / "digits.pt")
    for size in (1, 6):
        pixels = np.random.default_rng(size).integers(0, 256, (size, 28, 28)).astype(np.uint8)
        probability, weights = digits(layers, pixels.astype(np.float64))
        np.testing.assert_allclose(model.predict_proba([pixels])[0, 1], probability, atol=2e-6)
        np.testing.assert_allclose(model.weigh([pixels]), weights.mean(axis=0), atol=2e-6)


def test_other_layers_than_two_are_refused(tmp_path):
    layers = digit_layers() | {"feature_extractor_part1.7": layer(np.random.default_rng(0), 50, 50, 5, 5)}
    torch.save(named(layers), tmp_path / "digits.pt")
    with pytest.raises(InputError, match="feature_extractor_part1 has 3 layers with weights, and two were expected"):
        adopt(tmp_path / "digits.pt")
