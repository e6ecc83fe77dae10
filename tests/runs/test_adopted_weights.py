import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.runs.adopted_weights import StateDict, adopt_weights, make_two_class_head
from runs.formulas import clam, clam_layers, digit_layers, digits, layer, named


@pytest.fixture
def saved_clam(tmp_path):
    layers = clam_layers()
    torch.save(named(layers), tmp_path / "clam.pt")
    return layers, tmp_path / "clam.pt"


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"branches": 2},
        {"shift": 1},
        {"gated": True},
        {"gated": True, "last": "attention_weights", "shift": 1},
    ],
    ids=["plain", "branches", "shifted", "gated", "older gated"],
)
def test_adopt_weights_of_attention_deep_mil_predicts_as_its_equations(tmp_path, variant):
    layers = digit_layers(**variant)
    torch.save({"state_dict": named(layers, "module.")}, tmp_path / "digits.pt")
    model = adopt_weights(tmp_path / "digits.pt")
    for size in (1, 6):
        pixels = np.random.default_rng(size).integers(0, 256, (size, 28, 28)).astype(np.uint8)
        probability, weights = digits(layers, pixels.astype(np.float64))
        np.testing.assert_allclose(model.predict_proba([pixels])[0, 1], probability, atol=2e-6)
        np.testing.assert_allclose(model.weigh([pixels]), weights.mean(axis=0), atol=2e-6)


@pytest.mark.parametrize(
    ("gated", "dropout", "n_classes", "prefix"),
    [
        (True, True, 2, ""),
        (True, False, 3, "module."),
        (False, True, 3, "model.module."),
        (False, False, 2, "module."),
    ],
)
def test_adopt_weights_of_clam_predicts_as_its_equations(tmp_path, gated, dropout, n_classes, prefix):
    layers = clam_layers(gated=gated, dropout=dropout, n_classes=n_classes)
    torch.save(named(layers, prefix), tmp_path / "clam.pt")
    model = adopt_weights(tmp_path / "clam.pt")
    for size in (1, 2, 40):
        bag = np.random.default_rng(size).normal(size=(size, 24))
        probabilities, weights = clam(layers, bag)
        np.testing.assert_allclose(model.predict_proba([bag])[0], probabilities, atol=1e-6)
        np.testing.assert_allclose(model.weigh([bag]), weights, atol=1e-6)


def test_adopt_weights_returns_a_classifier_that_predicts_labels_and_saves(saved_clam, tmp_path):
    layers, path = saved_clam
    model = adopt_weights(path, classes=["normal", "tumour"])
    bag = np.random.default_rng(1).normal(size=(9, 24))
    expected, _ = clam(layers, bag)
    assert model.predict([bag])[0] == ("normal", "tumour")[expected.argmax()]
    model.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba([bag]), model.predict_proba([bag]))


def test_adopt_weights_keeps_the_columns_if_the_first_class_is_positive(saved_clam):
    _, path = saved_clam
    bag = np.random.default_rng(1).normal(size=(9, 24))
    plain, first = (adopt_weights(path, classes=labels) for labels in (["normal", "tumour"], ["tumour", "normal"]))
    assert (plain.target_.positive, first.target_.positive) == (1, 0)
    np.testing.assert_allclose(first.predict_proba([bag]), plain.predict_proba([bag]), rtol=1e-6)
    np.testing.assert_allclose(first.decision_function([bag]), plain.decision_function([bag]), rtol=1e-6)


@pytest.mark.parametrize("labels", [["one"], ["a", "b", "c"], ["a", "a"]])
def test_adopt_weights_rejects_a_wrong_number_of_labels(saved_clam, labels):
    message = f"has 2 classes; give 2 different labels with --classes, got {', '.join(labels)}"
    with pytest.raises(InputError, match=message):
        adopt_weights(saved_clam[1], classes=labels)


def test_adopt_weights_rejects_other_models_by_name(tmp_path):
    torch.save({"encoder.weight": torch.zeros(2, 2)}, tmp_path / "other.pt")
    with pytest.raises(InputError, match=r"other\.pt has the weights of neither CLAM"):
        adopt_weights(tmp_path / "other.pt")


def test_adopt_weights_rejects_an_attention_deep_mil_with_more_layers(tmp_path):
    layers = digit_layers() | {"feature_extractor_part1.7": layer(np.random.default_rng(0), 50, 50, 5, 5)}
    torch.save(named(layers), tmp_path / "digits.pt")
    with pytest.raises(InputError, match="feature_extractor_part1 has 3 layers with weights, but two were expected"):
        adopt_weights(tmp_path / "digits.pt")


def change_clam(change):
    generator, layers = np.random.default_rng(0), clam_layers()
    if change == "further tensors":
        return layers | {"extra": {"weight": np.zeros(2)}}
    if change == "several branches":
        branches = {f"classifiers.{number}": layer(generator, 512, 1) for number in range(2)}
        return {name: tensors for name, tensors in layers.items() if name != "classifiers"} | branches
    if change == "width":
        return layers | {"attention_net.0": layer(generator, 24, 256)}
    return {name: tensors for name, tensors in layers.items() if "attention_b" not in name}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("further tensors", r"not part of such a model: extra\.weight"),
        ("several branches", "several branches"),
        ("width", "width 256"),
        ("missing gate", "has 0 layers"),
    ],
)
def test_adopt_weights_rejects_a_changed_clam(tmp_path, change, message):
    torch.save(named(change_clam(change)), tmp_path / "clam.pt")
    with pytest.raises(InputError, match=message):
        adopt_weights(tmp_path / "clam.pt")


def test_adopt_weights_does_not_execute_a_pickle(tmp_path):
    class Malice:
        def __reduce__(self):
            return (open, (str(tmp_path / "marker"), "w"))

    torch.save({"state_dict": {"attention_net.0.weight": Malice()}}, tmp_path / "bad.pt")
    with pytest.raises(InputError, match=r"bad\.pt"):
        adopt_weights(tmp_path / "bad.pt")
    assert not (tmp_path / "marker").exists()


def test_state_dict_removes_prefixes_and_sorts_indices(tmp_path):
    torch.save({f"model.module.part.{index}.weight": torch.zeros(1) for index in (12, 2, 0)}, tmp_path / "state.pt")
    assert StateDict(tmp_path / "state.pt").find_indices("part") == [0, 2, 12]


def test_state_dict_check_all_used_names_unused_tensors(tmp_path):
    torch.save({f"{name}.{kind}": torch.ones(1) for name in "ab" for kind in ("weight", "bias")}, tmp_path / "state.pt")
    state = StateDict(tmp_path / "state.pt")
    assert state.get_layer("a").keys() == {"weight", "bias"}
    with pytest.raises(InputError, match=r"not part of such a model: b\.bias, b\.weight"):
        state.check_all_used()
    state.ignore(r"b\..*")
    state.check_all_used()


@pytest.mark.parametrize(("pattern", "count"), [("[ab]", 2), ("c", 0)], ids=["several", "none"])
def test_state_dict_get_layer_rejects_other_than_one_match(tmp_path, pattern, count):
    torch.save({f"{name}.weight": torch.ones(1) for name in "ab"}, tmp_path / "state.pt")
    with pytest.raises(InputError, match=rf"has {count} layers .*, but one was expected; .*a\.weight, b\.weight"):
        StateDict(tmp_path / "state.pt").get_layer(pattern, bias=False)


def test_state_dict_get_layer_rejects_a_missing_bias_by_name(tmp_path):
    torch.save({"a.weight": torch.ones(1)}, tmp_path / "state.pt")
    with pytest.raises(InputError, match=r"has no a\.bias"):
        StateDict(tmp_path / "state.pt").get_layer("a")


def test_state_dict_get_layer_rejects_values_that_are_not_finite(tmp_path):
    torch.save({"layer.weight": torch.tensor([[1.0, float("nan")]]), "layer.bias": torch.zeros(1)}, tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"w\.pt: layer\.weight has values that are not finite"):
        StateDict(tmp_path / "w.pt").get_layer("layer")


def test_make_two_class_head_keeps_the_probabilities():
    generator = torch.Generator().manual_seed(0)
    head = {"weight": torch.randn(2, 5, generator=generator), "bias": torch.randn(2, generator=generator)}
    values = torch.randn(7, 5, generator=generator)
    expected = torch.softmax(values @ head["weight"].T + head["bias"], dim=1)[:, 1]
    single = make_two_class_head(head)
    torch.testing.assert_close(torch.sigmoid(values @ single["weight"].T + single["bias"])[:, 0], expected)


def test_make_two_class_head_does_not_change_more_classes():
    head = {"weight": torch.ones(3, 5), "bias": torch.ones(3)}
    assert make_two_class_head(head) is head
