import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.bags.folder import load_bags, save_bags
from bagwise.nn.bag_model import BagModel
from bagwise.nn.pooling.base import Pooled, Pooling
from bagwise.nn.pooling.linear import Mean
from bagwise.training.streaming.pieces import RowCollector, compute_terms, cut_pieces, is_streamable
from contexts import AddedMean, PerInstance, SelfAttention
from sensible_models import every, model_of

sizes_and_order = st.lists(st.integers(1, 9), min_size=1, max_size=8).flatmap(
    lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
)


def bags_of(sizes):
    rows = np.arange(sum(sizes), dtype=float)[:, None]
    return Bags(rows, np.append(0, np.cumsum(sizes)))


@given(sizes_and_order, st.integers(1, 12))
def test_cut_pieces_covers_the_chosen_rows_in_order_and_describes_their_bags(given_bags, max_rows):
    sizes, order = given_bags
    bags, chosen = bags_of(sizes), np.array(order)
    expected, row = bags[chosen], 0
    for piece in cut_pieces(bags, chosen, max_rows):
        assert piece.first_row == row
        row += piece.bags.n_instances
        assert piece.bags.n_instances <= max_rows
        np.testing.assert_array_equal(piece.bags.instances, expected.instances[piece.first_row : row])
        starts = np.clip(expected.offsets[piece.which.start : piece.which.stop + 1], piece.first_row, row)
        np.testing.assert_array_equal(piece.bags.offsets, starts - piece.first_row)
        assert piece.continues == (piece.first_row > expected.offsets[piece.which.start])
    assert row == expected.n_instances


def test_cut_pieces_does_not_copy_rows_of_a_memory_mapped_file(tmp_path):
    save_bags(bags_of([7, 2, 5]), tmp_path / "bags")
    bags = load_bags(tmp_path / "bags")
    for piece in cut_pieces(bags, np.array([2, 0]), max_rows=3):
        assert np.shares_memory(piece.bags.instances, bags.instances)


def test_row_collector_concatenates_rows_in_order():
    parts = [torch.randn(size, 2, dtype=torch.float64) for size in (3, 1, 4)]
    collector = RowCollector(8)
    for part in parts:
        collector.add(part)
    assert collector.filled == 8
    torch.testing.assert_close(collector.rows, torch.cat(parts), rtol=0, atol=0)


class CustomPooling(Pooling):
    title = "custom"

    def forward(self, values, offsets):
        return Pooled(values[offsets[:-1]], torch.ones(len(values), 1))


@every
def test_is_streamable_is_true_for_every_pooling_of_the_registry(case):
    assert is_streamable(model_of(case))


def test_is_streamable_is_false_for_a_pooling_that_is_not_additive_and_for_other_models():
    assert not is_streamable(BagModel(nn.Identity(), CustomPooling(), nn.Identity()))
    assert not is_streamable(nn.Identity())


@pytest.mark.parametrize(
    ("context", "expected"), [(AddedMean(4), False), (SelfAttention(4), False), (PerInstance(4), True)]
)
def test_is_streamable_asks_the_context(context, expected):
    assert is_streamable(BagModel(nn.Identity(), Mean(), nn.Linear(4, 1), context=context)) == expected


def test_compute_terms_are_those_of_the_encoded_rows():
    model = model_of(("attention", "embedding", "bernoulli")).double().eval()
    bags = Bags.from_list([np.random.default_rng(1).normal(size=(size, 4)) for size in (2, 3)])
    (piece,) = cut_pieces(bags, np.array([1, 0]), max_rows=9)
    terms, offsets = compute_terms(model, piece, torch.device("cpu"))
    embeddings = model.encoder(torch.from_numpy(bags.instances[[2, 3, 4, 0, 1]]))
    torch.testing.assert_close(terms.rows, embeddings)
    torch.testing.assert_close(terms.exponents, model.pooling.relevance(embeddings))
    assert offsets.tolist() == [0, 3, 5]
