import pytest
import torch

from bagwise.errors import InputError
from bagwise.published.state import State


def test_prefixes_are_gone_and_places_are_in_the_order_of_numbers(tmp_path):
    torch.save({f"model.module.part.{place}.weight": torch.zeros(1) for place in (12, 2, 0)}, tmp_path / "state.pt")
    assert State(tmp_path / "state.pt").places("part") == [0, 2, 12]


def test_one_layer_is_taken_and_the_rest_is_known_to_be_left(tmp_path):
    torch.save({f"{name}.{kind}": torch.ones(1) for name in "ab" for kind in ("weight", "bias")}, tmp_path / "state.pt")
    state = State(tmp_path / "state.pt")
    assert state.layer("a").keys() == {"weight", "bias"}
    with pytest.raises(InputError, match=r"holds more than such a model: b\.bias, b\.weight"):
        state.check_taken()
    state.leave(r"b\..*")
    state.check_taken()


@pytest.mark.parametrize("pattern", ["[ab]", "c"], ids=["several", "none"])
def test_a_pattern_must_name_one_layer(tmp_path, pattern):
    torch.save({f"{name}.weight": torch.ones(1) for name in "ab"}, tmp_path / "state.pt")
    with pytest.raises(InputError, match=r"layers .*, and one was expected; it holds a\.weight, b\.weight"):
        State(tmp_path / "state.pt").layer(pattern, bias=False)


def test_a_bias_that_is_not_there_is_named(tmp_path):
    torch.save({"a.weight": torch.ones(1)}, tmp_path / "state.pt")
    with pytest.raises(InputError, match=r"has no a\.bias"):
        State(tmp_path / "state.pt").layer("a")


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    torch.save({"layer.weight": torch.tensor([[1.0, float("nan")]]), "layer.bias": torch.zeros(1)}, tmp_path / "w.pt")
    with pytest.raises(InputError, match=r"w\.pt: layer\.weight holds numbers that are not finite"):
        State(tmp_path / "w.pt").layer("layer")
