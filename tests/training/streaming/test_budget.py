import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.models import embedding_level
from bagwise.places import Place, set_place
from bagwise.pooling import Attention, Mean
from bagwise.training.streaming import budget
from bagwise.training.streaming.budget import Budget, bytes_a_row
from sensible_models import model_of

CPU = torch.device("cpu")
BAGS = Bags.from_list([np.random.default_rng(0).normal(size=(size, 8)).astype(np.float32) for size in (30, 5, 3)])
ALL = np.arange(3)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(budget, "PIECE", 4)


@pytest.fixture
def streamed(monkeypatch):
    """Which batches were read in pieces."""
    calls, compute = [], budget.streamed_scores

    def noted(model, bags, chosen, device, most):
        calls.append(chosen.tolist())
        return compute(model, bags, chosen, device, most)

    monkeypatch.setattr(budget, "streamed_scores", noted)
    return calls


def test_bytes_a_row_are_what_the_graph_keeps():
    """One layer without its input's gradient keeps its input; the tanh keeps what it gives."""
    encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
    model = embedding_level(encoder, Mean(), nn.Linear(16, 1))
    found = bytes_a_row(model, BAGS, ALL, CPU)
    per_bag = 16 * 4 + 64  # the pooled row, and little things
    assert 4 * (8 + 16) <= found <= 4 * (8 + 16) + per_bag


def test_measuring_leaves_the_model_and_the_generators_as_they_were():
    encoder = nn.Sequential(nn.Linear(8, 5), nn.BatchNorm1d(5), nn.Dropout(0.5))
    model = embedding_level(encoder, Attention(5, 3), nn.Linear(5, 1)).train()
    before, state = {name: value.clone() for name, value in model.state_dict().items()}, torch.get_rng_state()
    bytes_a_row(model, BAGS, ALL, CPU)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(value.grad is None for value in model.parameters())


def test_only_what_does_not_fit_is_read_in_pieces(streamed):
    model = model_of(("gated attention", "embedding", "bernoulli"), shape=(8,), dropout=0.5).train()
    row = bytes_a_row(model, BAGS, ALL, CPU) * budget.BACKWARD
    keeper = Budget(int(row * 10))
    for chosen in ([0], [1], [2], [1, 2], [0, 1, 2]):
        keeper.scores(model, BAGS, np.array(chosen), CPU)
    assert streamed == [[0], [0, 1, 2]]


@pytest.mark.parametrize(("share", "expected"), [(1.3, 1), (1.5, 0)])
def test_the_gradients_of_the_backward_pass_count_too(streamed, share, expected):
    """They stand beside what was kept: measured, a backward pass holds up to 1.4 times as much."""
    model = model_of(("gated attention", "embedding", "bernoulli"), shape=(8,), dropout=0.5).train()
    keeper = Budget(8 * share * bytes_a_row(model, BAGS, np.array([1, 2]), CPU))
    keeper.scores(model, BAGS, np.array([1, 2]), CPU)
    assert len(streamed) == expected


def test_the_scores_are_the_same_either_way(streamed):
    model = model_of(("gated attention", "embedding", "bernoulli"), shape=(8,), dropout=0.5).train()
    found = []
    for granted in (1, 10**9):
        set_place(model, Place(1, 2))
        found.append(Budget(granted).scores(model, BAGS, ALL, CPU))
    assert len(streamed) == 1
    torch.testing.assert_close(*found)


def test_small_batches_are_never_measured_nor_read_in_pieces(streamed):
    keeper = Budget(1)
    model = model_of(("max", "embedding", "bernoulli"), shape=(8,)).train()
    keeper.scores(model, BAGS, np.array([2]), CPU)
    assert streamed == []
    assert keeper.bytes_a_row is None


def test_a_pooling_that_cannot_be_read_in_pieces_takes_the_memory_it_needs(streamed):
    class Foreign(nn.Module):
        def forward(self, values, offsets):
            return Mean()(values, offsets)

    model = model_of(("mean", "embedding", "bernoulli"), shape=(8,)).train()
    model.pooling = Foreign()
    assert Budget(1).scores(model, BAGS, ALL, CPU).shape == (3, 1)
    assert streamed == []


def test_a_training_run_in_pieces_ends_where_one_at_once_does(streamed):
    bags = load_dataset("needles", n_bags=20)
    models = [
        BagClassifier(epochs=2, batch_size=3, learning_rate=1e-3, engine="torch", random_state=1, memory=memory)
        for memory in ("1KB", "1GB")
    ]
    in_pieces, whole = (model.fit(bags, bags.labels).model_.state_dict() for model in models)
    assert len(streamed) == 14
    for name, value in whole.items():
        torch.testing.assert_close(in_pieces[name], value, rtol=1e-4, atol=1e-5)


def test_an_impossible_amount_is_refused_before_training():
    bags = load_dataset("needles", n_bags=20)
    with pytest.raises(InputError, match="memory is 'lots'"):
        BagClassifier(memory="lots").check(bags, bags.labels)
