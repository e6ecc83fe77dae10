"""Dropout masks are a function of (seed, step, layer, use, row)."""

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.dropout import Dropout, StreamPosition, list_random_modules, set_stream_position
from unchecked import unchecked


def test_set_stream_position_numbers_the_random_modules_and_resets_their_uses():
    model = nn.Sequential(Dropout(0.5), nn.Linear(2, 2), nn.Sequential(nn.ReLU(), Dropout(0.1)))
    set_stream_position(model, StreamPosition(seed=3, step=7))
    first, second = list_random_modules(model)
    assert (first, second) == (model[0], model[2][1])
    assert (first.layer, second.layer) == (0, 1)
    assert first.position == second.position == StreamPosition(3, 7, 0)
    assert [first.count_use(), first.count_use(), second.count_use()] == [0, 1, 0]
    set_stream_position(model, StreamPosition(seed=3, step=8))
    assert first.count_use() == 0
    set_stream_position(model, None)
    assert first.position is None


def mask(p=0.5, position=None, rows=64, shape=(10,), layer=0):
    """Return the mask of the given layer, as the dropout of ones."""
    layers = nn.Sequential(*(Dropout(p) for _ in range(layer + 1))).train()
    set_stream_position(layers, position or StreamPosition(seed=5, step=0))
    return layers[layer](torch.ones(rows, *shape))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_values_with_probability_p_and_scales_the_rest(p):
    masked = mask(p, rows=2000, shape=(50,))
    dropped = (masked == 0).double().mean()
    assert abs(dropped - p) < 5 * (p * (1 - p) / 100_000) ** 0.5
    torch.testing.assert_close(masked[masked != 0].unique(), torch.tensor([1 / (1 - p)]))
    assert masked.mean() == pytest.approx(1, abs=5 * (p / (1 - p) / 100_000) ** 0.5)


def test_dropout_applies_the_same_mask_to_values_and_gradients():
    layer = Dropout(0.25).train()
    set_stream_position(layer, StreamPosition(5, 0))
    values = torch.randn(40, 6, dtype=torch.float64, requires_grad=True)
    result = layer(values)
    kept = result != 0
    torch.testing.assert_close(result, torch.where(kept, values / 0.75, 0.0))
    result.sum().backward()
    torch.testing.assert_close(values.grad, kept / torch.tensor(0.75, dtype=torch.float64))


@pytest.mark.parametrize("position", [None, StreamPosition(5, 0)])
def test_dropout_in_evaluation_mode_or_with_p_zero_is_the_identity(position):
    values = torch.randn(8, 3)
    for layer in (Dropout(0.5).eval(), Dropout(0.0).train()):
        set_stream_position(layer, position)
        assert torch.equal(layer(values), values)


def test_dropout_mask_does_not_depend_on_earlier_random_numbers():
    first = mask()
    torch.rand(7)
    mask(position=StreamPosition(6, 1))
    assert torch.equal(mask(), first)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(2, 50), st.integers(0, 1000), st.sampled_from([(1,), (9,), (3, 4, 4)]), st.data())
def test_dropout_masks_of_pieces_equal_the_mask_of_the_whole_batch(rows, step, shape, data):
    cut = data.draw(st.integers(1, rows - 1))
    whole = mask(position=StreamPosition(5, step), rows=rows, shape=shape)
    first = mask(position=StreamPosition(5, step), rows=cut, shape=shape)
    second = mask(position=StreamPosition(5, step, first_row=cut), rows=rows - cut, shape=shape)
    assert torch.equal(torch.cat([first, second]), whole)


def test_dropout_masks_of_different_seeds_steps_layers_and_rows_are_independent():
    masks = [
        mask(),
        mask(position=StreamPosition(5, 1)),
        mask(position=StreamPosition(6, 0)),
        mask(position=StreamPosition(5, 0, first_row=64)),
        mask(layer=1),
        mask(layer=2),
    ]
    agreement = torch.stack([(first == second).float().mean() for first, second in combinations(masks, 2)])
    assert (agreement - 0.5).abs().max() < 0.1


def test_dropout_outside_a_run_equals_the_dropout_of_torch():
    values, layer = torch.randn(50, 4), Dropout(0.3).train()
    set_stream_position(layer, StreamPosition(5, 0))
    set_stream_position(layer, None)
    torch.manual_seed(3)
    own = layer(values)
    torch.manual_seed(3)
    assert torch.equal(own, torch.dropout(values, 0.3, True))


def test_dropout_called_several_times_has_one_reproducible_mask_per_call():
    def masks(position, rows=64):
        set_stream_position(layer, position)
        return [layer(torch.ones(rows, 10)) for _ in range(3)]

    layer = Dropout(0.5).train()
    whole = masks(StreamPosition(5, 0))
    assert torch.equal(whole[0], mask())  # the first call has the mask of a module that is called once
    for first, second in combinations(whole, 2):
        assert abs((first == second).float().mean() - 0.5) < 0.1
    assert all(map(torch.equal, masks(StreamPosition(5, 0)), whole))
    pieces = zip(masks(StreamPosition(5, 0), 20), masks(StreamPosition(5, 0, first_row=20), 44), strict=True)
    assert all(map(torch.equal, [torch.cat(parts) for parts in pieces], whole))


def test_dropout_in_evaluation_mode_is_not_counted_as_a_use():
    layer = Dropout(0.5).train()
    set_stream_position(layer, StreamPosition(5, 0))
    layer.eval()(torch.ones(64, 10))
    assert torch.equal(layer.train()(torch.ones(64, 10)), mask())


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan"), float("inf"), "x", None, True])
def test_dropout_rejects_an_invalid_probability(p):
    with unchecked(), pytest.raises(InputError, match=r"dropout .*number at least 0 and below 1"):
        Dropout(p)
