import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.likelihoods import Bernoulli
from bagwise.models import embedding_level
from bagwise.pooling import Mean
from bagwise.training.engines import Diverged, Problem, TorchEngine
from bagwise.training.tasks import Task


def problem(rows):
    torch.manual_seed(0)
    model = embedding_level(nn.Identity(), Mean(), nn.Linear(2, 1))
    bags = Bags.trusted(instances=rows, offsets=np.array([0, 2, 3, 4]))
    task = Task(bags, np.array([1, 0, 1]), np.array([1.0, 2.0, 1.0], dtype=np.float32))
    optimizer = torch.optim.SGD(model.parameters(), lr=9.0)
    return Problem(model, Bernoulli(), task, optimizer, seed=0, device=torch.device("cpu"))


def test_a_batch_is_one_step_down_the_mean_of_the_weighted_losses():
    """Against the gradient of the logistic loss by hand."""
    rows = np.array([[1, 2], [3, 4], [-1, 0], [5, 5]], dtype=np.float32)
    given = problem(rows)
    weight, bias = (value.detach().clone().double().numpy() for value in given.model.head.parameters())
    sums = TorchEngine(given).run([np.array([0, 1])], first_step=0, learning_rate=0.1)
    pooled, signs, factors = np.array([[2, 3], [-1, 0]]), np.array([1, -1]), np.array([1, 2])
    margins = signs * (pooled @ weight[0] + bias)
    slopes = -signs * factors / (1 + np.exp(margins)) / 2
    assert sums.loss == pytest.approx((factors * np.log1p(np.exp(-margins))).sum(), rel=1e-6)
    assert sums.errors == (margins < 0).sum()
    np.testing.assert_allclose(given.model.head.weight.detach()[0], weight[0] - 0.1 * slopes @ pooled, rtol=1e-5)
    np.testing.assert_allclose(given.model.head.bias.detach(), bias - 0.1 * slopes.sum(), rtol=1e-5)


def test_several_batches_are_several_steps():
    rows = np.array([[1, 2], [3, 4], [-1, 0], [5, 5]], dtype=np.float32)
    together, apart = problem(rows), problem(rows)
    sums = TorchEngine(together).run([np.array([0]), np.array([1, 2])], 4, 0.1)
    first = TorchEngine(apart).run([np.array([0])], 4, 0.1)
    second = TorchEngine(apart).run([np.array([1, 2])], 5, 0.1)
    assert torch.equal(together.model.head.weight, apart.model.head.weight)
    assert sums == (first.loss + second.loss, first.errors + second.errors)


def test_the_bag_whose_loss_is_not_finite_is_named():
    rows = np.array([[1, 2], [3, 4], [-1, 0], [np.nan, 5]], dtype=np.float32)
    with pytest.raises(Diverged) as caught:
        TorchEngine(problem(rows)).run([np.array([0]), np.array([1, 2])], 0, 0.1)
    assert (caught.value.batch, caught.value.bag) == (1, 2)
