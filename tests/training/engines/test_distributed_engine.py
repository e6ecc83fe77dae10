"""Two ranks against one process on the same batch: the same gradient, however the bags are dealt."""

import copy

import numpy as np
import pytest
import torch

from bagwise.bags import Bags
from bagwise.likelihoods import Bernoulli
from bagwise.models import assemble
from bagwise.pooling import Settings
from bagwise.training import Task, TrainingSettings
from bagwise.training.engines import Diverged, Problem, TorchEngine
from bagwise.training.engines.distributed_engine import DistributedEngine
from training.together import together

SIZES = (3, 1, 40, 7, 2, 11)


@pytest.fixture(scope="module")
def task():
    draws = np.random.default_rng(0)
    bags = Bags.from_list([draws.normal(size=(size, 5)) for size in SIZES])
    return Task(bags, np.array([0, 1, 0, 1, 1, 0]), np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0], dtype=np.float32))


def model_of(dropout=0.0):
    generator = torch.Generator().manual_seed(0)
    return assemble(
        (5,),
        Bernoulli(),
        encoder="mlp",
        pooling="gated attention",
        level="embedding",
        dropout=dropout,
        settings=Settings(),
        generator=generator,
    ).double()


def problem_of(model, task, **words):
    settings = TrainingSettings(optimizer="sgd", momentum=0.0, learning_rate=0.1, weight_decay=0.01)
    optimizer = settings.build_optimizer(model.parameters())
    return Problem(model, Bernoulli(), task, optimizer, 3, torch.device("cpu"), **words)


def trained(task, size, batches, **words):
    """The weights and sums after some steps, by so many ranks; all ranks must agree to the bit."""
    models = [model_of() for _ in range(size)]

    def work(ranks):
        engine = DistributedEngine(problem_of(models[ranks.number], task, **words), ranks)
        return engine.run(batches, 0, 0.1)

    sums = together(size, work)
    for model in models[1:]:
        for one, other in zip(models[0].parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)
    return models[0], sums[0]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_weights_and_sums_are_those_of_one_process(task, size):
    batches = [np.array([0, 1, 2, 3, 4]), np.array([5, 2]), np.array([4])]
    alone = model_of()
    expected = TorchEngine(problem_of(alone, task)).run(batches, 0, 0.1)
    model, sums = trained(task, size, batches)
    for found, wanted in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
    assert sums.loss == pytest.approx(expected.loss, rel=1e-10)
    assert sums.errors == expected.errors


def test_pieces_and_drawn_instances_are_those_of_one_process(task):
    batches = [np.array([0, 2, 3, 5])]
    for words in ({"most_instances": 4}, {"memory": 1.0}):
        alone = model_of()
        TorchEngine(problem_of(alone, task, **words)).run(batches, 0, 0.1)
        model, _ = trained(task, 2, batches, **words)
        for found, wanted in zip(model.parameters(), alone.parameters(), strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)


def test_no_two_ranks_draw_the_same_dropout(task):
    same = np.tile(np.arange(5.0), (2, 4, 1))
    twins = Task(Bags.from_list(list(same)), np.array([1, 1]), np.ones(2, dtype=np.float32))
    gradients = []

    def work(ranks):
        engine = DistributedEngine(problem_of(model_of(dropout=0.5).train(), twins), ranks)
        engine._exchange = lambda found: (gradients.append(engine.parameters[0].grad.clone()), found)[1]
        engine.run([np.array([0, 1])], 0, 0.0)

    together(2, work)
    assert not torch.equal(*gradients)


def test_what_gets_no_gradient_anywhere_is_left_alone(task):
    models = [model_of() for _ in range(2)]
    for model in models:
        model.idle = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    together(
        2, lambda ranks: DistributedEngine(problem_of(models[ranks.number], task), ranks).run([np.arange(4)], 0, 0.1)
    )
    assert all(model.idle.tolist() == [1.0, 1.0, 1.0] for model in models)


def test_all_ranks_name_the_bag_that_cannot_be_learned(task):
    def work(ranks):
        model = model_of()
        spoiled = copy.copy(task.bags.instances)
        spoiled[task.bags.offsets[2] : task.bags.offsets[3]] = np.nan
        bags = Bags.trusted(instances=spoiled, offsets=task.bags.offsets)
        engine = DistributedEngine(problem_of(model, task._replace(bags=bags)), ranks)
        with pytest.raises(Diverged) as diverged:
            engine.run([np.array([0, 1]), np.array([3, 2, 4])], 0, 0.1)
        return diverged.value.batch, diverged.value.bag

    assert together(2, work) == [(1, 2), (1, 2)]
