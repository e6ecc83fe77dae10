from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.errors import InputError
from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.pooling.linear import Mean
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import TrainingTask
from bagwise.training.engines.base import DivergedError, TrainingProblem
from bagwise.training.engines.torch_engine import TorchEngine
from contexts import SelfAttention


def make_problem(rows):
    torch.manual_seed(0)
    model = arrange_embedding_level(nn.Identity(), Mean(), nn.Linear(2, 1))
    bags = Bags.trusted(instances=rows, offsets=np.array([0, 2, 3, 4]))
    return TrainingProblem(
        model=model,
        likelihood=Bernoulli(),
        task=TrainingTask(bags, np.array([1, 0, 1]), np.array([1.0, 2.0, 1.0], dtype=np.float32)),
        optimizer=torch.optim.SGD(model.parameters(), lr=9.0),
        seed=0,
        device=torch.device("cpu"),
    )


def test_run_performs_one_step_along_the_gradient_of_the_mean_weighted_loss():
    """The expected gradient is that of the logistic loss, derived by hand."""
    rows = np.array([[1, 2], [3, 4], [-1, 0], [5, 5]], dtype=np.float32)
    problem = make_problem(rows)
    weight, bias = (value.detach().clone().double().numpy() for value in problem.model.head.parameters())
    sums = TorchEngine(problem).run([np.array([0, 1])], first_step=0, learning_rate=0.1)
    pooled, signs, factors = np.array([[2, 3], [-1, 0]]), np.array([1, -1]), np.array([1, 2])
    margins = signs * (pooled @ weight[0] + bias)
    gradients = -signs * factors / (1 + np.exp(margins)) / 2
    assert sums.loss == pytest.approx((factors * np.log1p(np.exp(-margins))).sum(), rel=1e-6)
    assert sums.errors == (margins < 0).sum()
    np.testing.assert_allclose(problem.model.head.weight.detach()[0], weight[0] - 0.1 * gradients @ pooled, rtol=1e-5)
    np.testing.assert_allclose(problem.model.head.bias.detach(), bias - 0.1 * gradients.sum(), rtol=1e-5)


def test_run_of_several_batches_equals_several_runs():
    rows = np.array([[1, 2], [3, 4], [-1, 0], [5, 5]], dtype=np.float32)
    joint, separate = make_problem(rows), make_problem(rows)
    sums = TorchEngine(joint).run([np.array([0]), np.array([1, 2])], 4, 0.1)
    first = TorchEngine(separate).run([np.array([0])], 4, 0.1)
    second = TorchEngine(separate).run([np.array([1, 2])], 5, 0.1)
    assert torch.equal(joint.model.head.weight, separate.model.head.weight)
    assert sums == (first.loss + second.loss, first.errors + second.errors)


def test_run_names_the_batch_and_bag_whose_loss_is_not_finite():
    rows = np.array([[1, 2], [3, 4], [-1, 0], [np.nan, 5]], dtype=np.float32)
    with pytest.raises(DivergedError) as caught:
        TorchEngine(make_problem(rows)).run([np.array([0]), np.array([1, 2])], 0, 0.1)
    assert (caught.value.batch, caught.value.bag) == (1, 2)


def test_torch_engine_rejects_a_bag_that_a_context_needs_whole_before_the_first_step():
    rows = np.zeros((3000, 2), dtype=np.float32)
    bags = Bags(rows, np.array([0, 1, 2600, 3000]), names=np.array(["a", "b", "c"]))
    plain = make_problem(rows)
    plain.model.context = SelfAttention(2)
    problem = replace(plain, task=plain.task._replace(bags=bags), memory=1e6)
    with pytest.raises(InputError, match=r"^bag 'b' has 2,599 instances .* more than the limit of 1MB"):
        TorchEngine(problem)
    TorchEngine(replace(problem, most_instances=5))
    TorchEngine(replace(problem, memory=1e9))
