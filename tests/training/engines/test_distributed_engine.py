"""Tests that several ranks compute the same gradient as one process on the same batch."""

import copy

import numpy as np
import pytest
import torch

from bagwise.bags.bags import Bags
from bagwise.nn.bag_model import build_bag_model
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import TrainingTask
from bagwise.training.engines.base import DivergedError, TrainingProblem
from bagwise.training.engines.distributed_engine import DistributedEngine
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.settings import TrainingSettings
from contexts import every_context
from training.together import together

SIZES = (3, 1, 40, 7, 2, 11)


@pytest.fixture(scope="module")
def task():
    random = np.random.default_rng(0)
    bags = Bags.from_list([random.normal(size=(size, 5)) for size in SIZES])
    return TrainingTask(bags, np.array([0, 1, 0, 1, 1, 0]), np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0], dtype=np.float32))


def make_model(dropout=0.0, context=None):
    return build_bag_model(
        (5,),
        Bernoulli(),
        context=context,
        encoder="mlp",
        pooling="gated attention",
        level="embedding",
        dropout=dropout,
        settings=PoolingSettings(),
        generator=torch.Generator().manual_seed(0),
    ).double()


def make_problem(model, task, **options):
    settings = TrainingSettings(optimizer="sgd", momentum=0.0, learning_rate=0.1, weight_decay=0.01)
    return TrainingProblem(
        model=model,
        likelihood=Bernoulli(),
        task=task,
        optimizer=settings.build_optimizer(model.parameters()),
        seed=3,
        device=torch.device("cpu"),
        **options,
    )


def train_with_ranks(task, size, batches, context=None, **options):
    """Return the model and the sums after training with ``size`` ranks; check that all ranks have identical weights."""
    models = [make_model(context=copy.deepcopy(context)) for _ in range(size)]

    def work(ranks):
        engine = DistributedEngine(make_problem(models[ranks.number], task, **options), ranks)
        return engine.run(batches, 0, 0.1)

    sums = together(size, work)
    for model in models[1:]:
        for first, other in zip(models[0].parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(first, other, rtol=0, atol=0)
    return models[0], sums[0]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_run_of_several_ranks_matches_the_weights_and_sums_of_one_process(task, size):
    batches = [np.array([0, 1, 2, 3, 4]), np.array([5, 2]), np.array([4])]
    single = make_model()
    expected = TorchEngine(make_problem(single, task)).run(batches, 0, 0.1)
    model, sums = train_with_ranks(task, size, batches)
    for found, wanted in zip(model.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
    assert sums.loss == pytest.approx(expected.loss, rel=1e-10)
    assert sums.errors == expected.errors


@every_context
def test_run_of_two_ranks_with_a_context_matches_the_weights_and_sums_of_one_process(task, kind):
    batches, context = [np.array([0, 1, 2, 3, 4]), np.array([5, 2]), np.array([4])], kind(64)
    single = make_model(context=copy.deepcopy(context))
    expected = TorchEngine(make_problem(single, task)).run(batches, 0, 0.1)
    model, sums = train_with_ranks(task, 2, batches, context)
    for found, wanted in zip(model.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
    assert sums.loss == pytest.approx(expected.loss, rel=1e-10)
    trained = dict(model.context.named_parameters())
    assert not any(torch.equal(value.double(), trained[name]) for name, value in context.named_parameters())


@pytest.mark.parametrize("options", [{"most_instances": 4}, {"memory": 1.0}], ids=str)
def test_run_of_several_ranks_samples_instances_and_processes_pieces_as_one_process(task, options):
    batches = [np.array([0, 2, 3, 5])]
    single = make_model()
    TorchEngine(make_problem(single, task, **options)).run(batches, 0, 0.1)
    model, _ = train_with_ranks(task, 2, batches, **options)
    for found, wanted in zip(model.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)


def test_run_of_several_ranks_samples_different_dropout_masks(task):
    rows = np.tile(np.arange(5.0), (2, 4, 1))
    equal_bags = TrainingTask(Bags.from_list(list(rows)), np.array([1, 1]), np.ones(2, dtype=np.float32))
    gradients = []

    def work(ranks):
        engine = DistributedEngine(make_problem(make_model(dropout=0.5).train(), equal_bags), ranks)
        engine._exchange = lambda sums: (gradients.append(engine.parameters[0].grad.clone()), sums)[1]
        engine.run([np.array([0, 1])], 0, 0.0)

    together(2, work)
    assert not torch.equal(*gradients)


def test_run_does_not_change_parameters_without_a_gradient_in_any_rank(task):
    models = [make_model() for _ in range(2)]
    for model in models:
        model.unused = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))

    def work(ranks):
        DistributedEngine(make_problem(models[ranks.number], task), ranks).run([np.arange(4)], 0, 0.1)

    together(2, work)
    assert all(model.unused.tolist() == [1.0, 1.0, 1.0] for model in models)


def test_run_names_the_same_diverged_bag_in_all_ranks(task):
    def work(ranks):
        instances = copy.copy(task.bags.instances)
        instances[task.bags.offsets[2] : task.bags.offsets[3]] = np.nan
        bags = Bags.trusted(instances=instances, offsets=task.bags.offsets)
        engine = DistributedEngine(make_problem(make_model(), task._replace(bags=bags)), ranks)
        with pytest.raises(DivergedError) as diverged:
            engine.run([np.array([0, 1]), np.array([3, 2, 4])], 0, 0.1)
        return diverged.value.batch, diverged.value.bag

    assert together(2, work) == [(1, 2), (1, 2)]
