import numpy as np
import pytest
import torch

from bagwise.training.fused.layout import Layout
from bagwise.training.fused.reach import take_apart
from fused_problems import LEVELS, POOLINGS, problem


def lay_out(**options):
    given = problem(**options)
    return given, Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (5,))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_parameter_has_one_place_and_no_two_overlap(pooling, level):
    given, layout = lay_out(pooling=pooling, level=level)
    assert {id(slot.parameter) for slot in layout.slots} == {id(value) for value in given.model.parameters()}
    covered = np.concatenate([slot.start + np.arange(slot.parameter.numel()) for slot in layout.slots])
    assert sorted(covered) == list(range(layout.size))


def test_dropouts_are_numbered_and_compared_as_the_module_does():
    _, layout = lay_out(dropout=0.25)
    assert layout.plan.drawers.tolist() == [[0, 1 << 30], [1, 1 << 30], [2, 1 << 30]]
    assert layout.plan.scales.tolist() == [4 / 3] * 3


def test_only_the_first_layer_lies_as_torchs():
    _, layout = lay_out()
    matrices = [slot.transposed for slot in layout.slots if slot.parameter.ndim == 2]
    assert matrices == [False, True, True, True, False, False]  # three layers, V, w, head
    assert layout.plan.first_block == 2
    assert torch.tensor(layout.plan.widths.tolist()).equal(torch.tensor([16, 12, 9]))


def test_connections_show_the_pooling_all_layers():
    _, layout = lay_out(connections="residual", encoder="mlp", pooling="max")
    assert layout.plan.first_block == 0
    weights, biases = layout.plan.parts[:, 0].tolist(), layout.plan.parts[:, 1].tolist()
    assert len(set(weights)) == 1, "the layers share one classifier"
    assert [bias >= 0 for bias in biases] == [True, False, False]
    _, layout = lay_out(connections="deep supervision", encoder="mlp", pooling="max", n_classes=3)
    assert layout.plan.parts[:, 4].tolist() == [0, 3, 6]
    assert (layout.plan.n_sets, layout.plan.n_scores) == (3, 3)


def test_the_maps_of_convolutions_are_the_first_block():
    given = problem(encoder="two stages")
    layout = Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (3, 12, 13))
    assert layout.plan.widths.tolist() == [36, 11, 7]
    assert layout.plan.layers[0].tolist() == [-1] * 4, "they come from no linear layer"
    assert layout.size == sum(parameter.numel() for parameter in given.model.parameters())
