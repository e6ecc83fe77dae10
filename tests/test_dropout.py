"""Dropout's masks are a function of (seed, step, layer, row)."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bagwise.dropout import Dropout
from bagwise.errors import InputError
from bagwise.places import Place, set_place
from unchecked import unchecked


def mask(p=0.5, place=None, rows=64, shape=(10,), number=0):
    """Where the layer of that number lets values through."""
    layers = nn.Sequential(*(Dropout(p) for _ in range(number + 1))).train()
    set_place(layers, place or Place(seed=5, step=0))
    return layers[number](torch.ones(rows, *shape))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_share_p_is_silenced_and_the_rest_is_scaled(p):
    masked = mask(p, rows=2000, shape=(50,))
    silenced = (masked == 0).double().mean()
    assert abs(silenced - p) < 5 * (p * (1 - p) / 100_000) ** 0.5
    torch.testing.assert_close(masked[masked != 0].unique(), torch.tensor([1 / (1 - p)]))
    assert masked.mean() == pytest.approx(1, abs=5 * (p / (1 - p) / 100_000) ** 0.5)


def test_values_and_gradients_pass_scaled_or_not_at_all():
    layer = Dropout(0.25).train()
    set_place(layer, Place(5, 0))
    values = torch.randn(40, 6, dtype=torch.float64, requires_grad=True)
    result = layer(values)
    kept = result != 0
    torch.testing.assert_close(result, torch.where(kept, values / 0.75, 0.0))
    result.sum().backward()
    torch.testing.assert_close(values.grad, kept / torch.tensor(0.75, dtype=torch.float64))


@pytest.mark.parametrize("place", [None, Place(5, 0)])
def test_evaluation_and_p_zero_change_nothing(place):
    values = torch.randn(8, 3)
    for layer in (Dropout(0.5).eval(), Dropout(0.0).train()):
        set_place(layer, place)
        assert torch.equal(layer(values), values)


def test_the_same_place_gives_the_same_mask_whatever_was_drawn_before():
    first = mask()
    torch.rand(7)
    mask(place=Place(6, 1))
    assert torch.equal(mask(), first)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(2, 50), st.integers(0, 1000), st.sampled_from([(1,), (9,), (3, 4, 4)]), st.data())
def test_rows_in_pieces_replay_the_mask_of_the_whole(rows, step, shape, data):
    cut = data.draw(st.integers(1, rows - 1))
    whole = mask(place=Place(5, step), rows=rows, shape=shape)
    head = mask(place=Place(5, step), rows=cut, shape=shape)
    tail = mask(place=Place(5, step, first_row=cut), rows=rows - cut, shape=shape)
    assert torch.equal(torch.cat([head, tail]), whole)


def test_seeds_steps_layers_and_rows_have_masks_of_their_own():
    masks = [
        mask(),
        mask(place=Place(5, 1)),
        mask(place=Place(6, 0)),
        mask(place=Place(5, 0, first_row=64)),
        mask(number=1),
        mask(number=2),
    ]
    agreement = torch.stack([(one == other).float().mean() for i, one in enumerate(masks) for other in masks[:i]])
    assert (agreement - 0.5).abs().max() < 0.1


def test_layers_are_numbered_in_the_order_of_the_model():
    model = nn.Sequential(nn.Linear(2, 2), Dropout(), nn.Sequential(nn.ReLU(), Dropout()))
    set_place(model, Place(5, 3))
    assert (model[1].layer, model[2][1].layer) == (0, 1)
    assert model[1].place == model[2][1].place == Place(5, 3)


def test_outside_a_run_it_is_the_dropout_of_torch():
    values, layer = torch.randn(50, 4), Dropout(0.3).train()
    set_place(layer, Place(5, 0))
    set_place(layer, None)
    torch.manual_seed(3)
    own = layer(values)
    torch.manual_seed(3)
    assert torch.equal(own, torch.dropout(values, 0.3, True))


def test_a_module_used_twice_has_a_mask_for_each_use_and_replays_both():
    def masks(place, rows=64):
        set_place(layer, place)
        return [layer(torch.ones(rows, 10)) for _ in range(3)]

    layer = Dropout(0.5).train()
    first, second, third = masks(Place(5, 0))
    assert torch.equal(first, mask())  # the first use is that of a module used once
    for one, other in ((first, second), (second, third), (first, third)):
        assert abs((one == other).float().mean() - 0.5) < 0.1
    for again in (
        masks(Place(5, 0)),
        [torch.cat(parts) for parts in zip(masks(Place(5, 0), 20), masks(Place(5, 0, first_row=20), 44), strict=True)],
    ):
        assert all(map(torch.equal, again, (first, second, third)))


def test_evaluation_counts_as_no_use():
    layer = Dropout(0.5).train()
    set_place(layer, Place(5, 0))
    layer.eval()(torch.ones(64, 10))
    assert torch.equal(layer.train()(torch.ones(64, 10)), mask())


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan"), float("inf"), "x", None, True])
def test_a_p_that_is_no_share_is_refused(p):
    with unchecked(), pytest.raises(InputError, match=r"dropout is .*; it must be a number at least 0 and below 1"):
        Dropout(p)
