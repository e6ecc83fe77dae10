import re

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.dropout import StreamPosition, set_stream_position
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.pooling.linear import Mean
from bagwise.training.batches import bags_to_tensors
from bagwise.training.progress import TrainingProgress
from bagwise.training.streaming import gradient, memory
from bagwise.training.streaming.memory import (
    MemoryBudget,
    MemoryGrowth,
    PeakCounter,
    measure_memory_growth,
    measure_row_bytes,
    resolve_memory,
)
from contexts import PerInstance, SelfAttention, every_context
from sensible_models import model_of
from unchecked import unchecked

CPU = torch.device("cpu")
BAGS = Bags.from_list([np.random.default_rng(0).normal(size=(size, 8)).astype(np.float32) for size in (30, 5, 3)])
ALL = np.arange(3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("2 gb", 2e9), ("1.5GB", 1.5e9), ("500MB", 5e8), ("10kb", 1e4), ("7", 7), ("1TB", 1e12), (12, 12)],
)
def test_resolve_memory_accepts_sizes_with_units_and_numbers(text, expected):
    assert resolve_memory(text, CPU) == expected


@pytest.mark.parametrize("wrong", ["", "GB", "lots", "-2GB", "0", "0.1B", "2GiB", "1e9", "nan"])
def test_resolve_memory_rejects_other_texts(wrong):
    with pytest.raises(InputError, match=f"^memory must be 'auto', a size such as '2GB'.*, got '{wrong}'"):
        resolve_memory(wrong, CPU)


@pytest.mark.parametrize("wrong", [0, -5, 1.5, True, None])
def test_resolve_memory_rejects_other_numbers(wrong):
    with unchecked(), pytest.raises(InputError, match=r"^memory .*whole number of at least 1"):
        resolve_memory(wrong, CPU)


def test_resolve_memory_auto_is_a_quarter_of_the_machine_or_of_the_limit_of_its_container(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CGROUP_LIMIT", limit)
    of_machine = resolve_memory("auto", CPU)
    assert 1e8 < of_machine < 1e13
    limit.write_text("4000000\n")
    assert resolve_memory("auto", CPU) == 1_000_000
    limit.write_text("max\n")
    assert resolve_memory("auto", CPU) == of_machine


def test_resolve_memory_auto_has_a_default_where_the_system_does_not_report_its_memory(monkeypatch):
    def fail(name):
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", fail)
    assert resolve_memory("auto", CPU) == memory.DEFAULT_MEMORY // memory.AUTO_DIVISOR


def test_fit_checks_memory_before_training():
    bags = load_dataset("needles", n_bags=20)
    with pytest.raises(InputError, match=r"memory must be .*got 'lots'"):
        BagClassifier(memory="lots").check(bags, bags.labels)


@pytest.fixture
def streamed_batches(monkeypatch):
    """Record the batches that are read in pieces; a piece has four rows."""
    calls, compute = [], gradient.stream_scores

    def record(model, bags, chosen, device, max_rows):
        calls.append(chosen.tolist())
        return compute(model, bags, chosen, device, max_rows)

    monkeypatch.setattr(memory, "ROWS_PER_PIECE", 4)
    monkeypatch.setattr(memory, "stream_scores", record)
    return calls


def make_model(pooling="gated attention"):
    return model_of((pooling, "embedding", "bernoulli"), shape=(8,), dropout=0.5).train()


def test_memory_budget_reads_only_batches_that_do_not_fit_in_pieces(streamed_batches):
    model = make_model()
    row_bytes = measure_row_bytes(model, BAGS, ALL, CPU) * memory.BACKWARD_FACTOR
    budget = MemoryBudget(int(row_bytes * 10))
    for chosen in ([0], [1], [2], [1, 2], [0, 1, 2]):
        budget.scores(model, BAGS, np.array(chosen), CPU)
    assert streamed_batches == [[0], [0, 1, 2]]


@pytest.mark.parametrize(("share", "expected"), [(1.3, 1), (1.5, 0)])
def test_memory_budget_includes_the_gradients_of_the_backward_pass(streamed_batches, share, expected):
    """A backward pass was measured to use up to 1.4 times the stored activations."""
    model = make_model()
    budget = MemoryBudget(8 * share * measure_row_bytes(model, BAGS, np.array([1, 2]), CPU))
    budget.scores(model, BAGS, np.array([1, 2]), CPU)
    assert len(streamed_batches) == expected


def test_memory_budget_computes_the_same_scores_at_once_and_in_pieces(streamed_batches):
    model = make_model()
    scores = []
    for limit in (1, 10**9):
        set_stream_position(model, StreamPosition(1, 2))
        scores.append(MemoryBudget(limit).scores(model, BAGS, ALL, CPU))
    assert len(streamed_batches) == 1
    torch.testing.assert_close(*scores)


def test_memory_budget_neither_measures_nor_cuts_batches_of_one_piece(streamed_batches):
    budget = MemoryBudget(1)
    budget.scores(make_model("max"), BAGS, np.array([2]), CPU)
    assert streamed_batches == []
    assert budget.bytes_per_row is None


def test_memory_budget_reads_bags_at_once_if_the_pooling_is_not_additive(streamed_batches):
    class CustomPooling(nn.Module):
        def forward(self, values, offsets):
            return Mean()(values, offsets)

    model = make_model("mean")
    model.pooling = CustomPooling()
    assert MemoryBudget(1).scores(model, BAGS, ALL, CPU).shape == (3, 1)
    assert streamed_batches == []


def test_memory_budget_does_not_change_the_result_of_training(streamed_batches):
    bags = load_dataset("needles", n_bags=20)
    models = [
        BagClassifier(
            epochs=2, batch_size=3, learning_rate=1e-3, engine="torch", random_state=1, memory=limit, validation=None
        )
        for limit in ("1KB", "1GB")
    ]
    in_pieces, whole = (model.fit(bags, bags.labels).model_.state_dict() for model in models)
    assert len(streamed_batches) == 14
    for name, value in whole.items():
        torch.testing.assert_close(in_pieces[name], value, rtol=1e-4, atol=1e-5)


def test_measure_row_bytes_is_the_size_of_the_stored_activations():
    """The linear layer stores its input, and tanh stores its output."""
    encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
    model = arrange_embedding_level(encoder, Mean(), nn.Linear(16, 1))
    measured = measure_row_bytes(model, BAGS, ALL, CPU)
    per_bag = 16 * 4 + 64  # the pooled row and small tensors
    assert 4 * (8 + 16) <= measured <= 4 * (8 + 16) + per_bag


def test_measure_row_bytes_changes_neither_the_model_nor_the_random_state():
    encoder = nn.Sequential(nn.Linear(8, 5), nn.BatchNorm1d(5), nn.Dropout(0.5))
    model = arrange_embedding_level(encoder, Attention(5, 3), nn.Linear(5, 1)).train()
    before, random_state = {name: value.clone() for name, value in model.state_dict().items()}, torch.get_rng_state()
    measure_row_bytes(model, BAGS, ALL, CPU)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(value.grad is None for value in model.parameters())


def make_model_with_context(kind):
    encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
    return arrange_embedding_level(encoder, Attention(16, 4), nn.Linear(16, 1), kind(16)).train()


def make_large_bags(*sizes):
    rows = np.random.default_rng(0).normal(size=(sum(sizes), 8)).astype(np.float32)
    names = np.array([f"slide {number}" for number in range(len(sizes))])
    return Bags(rows, np.array([0, *np.cumsum(sizes)]), names=names)


def test_peak_counter_counts_the_bytes_that_exist_at_the_same_time():
    existing = torch.ones(1000)
    with PeakCounter([existing]) as counter:
        first = existing + 1  # 4000 bytes
        view = first.view(10, 100)
        del first, view
        second = existing * 2
        third = second + 1
        existing.add_(1)  # in place
    assert counter.peak == 8000
    assert third.sum() == 3000


@every_context
@pytest.mark.parametrize("with_gradients", [True, False])
def test_measure_memory_growth_predicts_the_memory_of_larger_bags(kind, with_gradients):
    bags, model = make_large_bags(3000, 700, 700), make_model_with_context(kind)
    for chosen in ([0], [0, 1, 2]):
        tensors = bags_to_tensors(bags[chosen], CPU)
        with torch.set_grad_enabled(with_gradients):
            growth = measure_memory_growth(model, bags, np.array(chosen), CPU)
            with PeakCounter([*model.parameters(), *tensors]) as counter:
                scores = model(*tensors).scores
                if with_gradients:
                    scores.sum().backward()
        model.zero_grad()
        assert 0.9 * counter.peak < growth.estimate(bags.sizes[chosen]) < 1.25 * counter.peak
    assert (growth.quadratic > 1) == (kind is SelfAttention)


def test_memory_growth_estimate_sums_over_bags():
    assert MemoryGrowth(constant=5, linear=2, quadratic=3).estimate(np.array([10, 100])) == 5 + 220 + 30_300


@every_context
def test_measure_memory_growth_changes_neither_the_model_nor_the_random_state(kind):
    model = make_model_with_context(kind)
    model.encoder.append(nn.BatchNorm1d(16)).append(nn.Dropout(0.5))
    before, random_state = {name: value.clone() for name, value in model.state_dict().items()}, torch.get_rng_state()
    measure_memory_growth(model, BAGS, ALL, CPU)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(value.grad is None for value in model.parameters())


@every_context
def test_memory_budget_rejects_a_batch_that_a_context_needs_whole_and_names_the_largest_bag(kind):
    bags, model = make_large_bags(900, 2500, 400), make_model_with_context(kind)
    message = (
        r"^bag 'slide 1' has 2,500 instances and needs about \d+MB of memory together with the other bags of its batch "
        rf"\(1\), more than the limit of 1MB; the context {kind.__name__} needs all instances of a bag together, so "
        r"the bag cannot be read in pieces; use a smaller most_instances .* batch_size, or .* memory='\d+MB'$"
    )
    with pytest.raises(InputError, match=message):
        MemoryBudget(0.9e6).scores(model, bags, np.array([2, 1]), CPU)
    assert MemoryBudget(1e9).scores(model, bags, np.array([2, 1]), CPU).shape == (2, 1)


@every_context
def test_memory_budget_accepts_the_limit_of_its_own_message(kind):
    bags, model = make_large_bags(2500), make_model_with_context(kind)
    with pytest.raises(InputError) as error:
        MemoryBudget(0.5e6).scores(model, bags, np.array([0]), CPU)
    limit = re.search(r"memory='(\d+MB)'", str(error.value))[1]
    assert MemoryBudget(resolve_memory(limit, CPU)).scores(model, bags, np.array([0]), CPU).shape == (1, 1)


def test_memory_budget_reads_bags_in_pieces_if_the_context_supports_streaming(streamed_batches):
    assert MemoryBudget(1).scores(make_model_with_context(PerInstance), BAGS, ALL, CPU).shape == (3, 1)
    assert streamed_batches == [[0, 1, 2]]


class FailingProgress(TrainingProgress):
    """Fails if the training begins."""

    def batch(self, done, batches):
        raise AssertionError("bags that do not fit must be found before the training")


@every_context
def test_fit_names_a_bag_that_does_not_fit_and_trains_on_samples_of_it(kind):
    bags = make_large_bags(2500, 5, 3, 2600)
    model = BagClassifier(context=kind(64), epochs=1, memory="2MB", random_state=0)
    with pytest.raises(InputError, match=r"^bag 'slide [03]' has 2,[56]00 instances"):
        model.fit(bags, [0, 1, 0, 1])
    model.set_params(most_instances=50)
    with pytest.raises(InputError, match=r"use a larger memory limit, memory='\d+MB'$"):  # for held-out bags
        model.fit(bags, [0, 1, 0, 1], progress=FailingProgress())
    model.set_params(validation=None).fit(bags, [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"^bag 'slide 0' has 2,500 instances"):
        model.predict_proba(bags)
    assert model.set_params(memory="1GB").predict_proba(bags).shape == (4, 2)
