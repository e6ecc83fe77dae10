import numpy as np
import pytest
import torch

from bagwise import BagClassifier
from bagwise.errors import InputError
from bagwise.published import adopt
from published.formulas import clam, clam_layers, named


@pytest.fixture
def saved(tmp_path):
    layers = clam_layers()
    torch.save(named(layers), tmp_path / "clam.pt")
    return layers, tmp_path / "clam.pt"


def test_it_is_a_fitted_classifier_like_any_other(saved, tmp_path):
    layers, path = saved
    model = adopt(path, classes=["normal", "tumour"])
    bag = np.random.default_rng(1).normal(size=(9, 24))
    expected, _ = clam(layers, bag)
    assert model.predict([bag])[0] == ("normal", "tumour")[expected.argmax()]
    model.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba([bag]), model.predict_proba([bag]))


def test_labels_must_be_as_many_as_the_outputs_and_different(saved):
    for wrong in (["one"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(InputError, match="has 2 classes; give as many different labels"):
            adopt(saved[1], classes=wrong)


def test_what_is_neither_is_refused(tmp_path):
    torch.save({"encoder.weight": torch.zeros(2, 2)}, tmp_path / "other.pt")
    with pytest.raises(InputError, match="neither CLAM"):
        adopt(tmp_path / "other.pt")


def test_a_pickle_that_would_run_code_is_not_run(tmp_path):
    class Malice:
        def __reduce__(self):
            return (open, (str(tmp_path / "marker"), "w"))

    torch.save({"state_dict": {"attention_net.0.weight": Malice()}}, tmp_path / "bad.pt")
    with pytest.raises(InputError, match="could run code"):
        adopt(tmp_path / "bad.pt")
    assert not (tmp_path / "marker").exists()
