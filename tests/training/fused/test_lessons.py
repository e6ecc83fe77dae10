import numpy as np
import pytest
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.inputs import Prepare, scaling
from bagwise.likelihoods import Bernoulli
from bagwise.training.engines import Problem
from bagwise.training.fused import lessons
from bagwise.training.fused.reach import Parts
from bagwise.training.tasks import Task

BATCHES = [np.array([1]), np.array([0, 1])]


def problem(instances, most=None, dtype=torch.float32):
    task = Task(Bags(instances, np.array([0, 4, 10])), np.array([0, 1]), np.array([1.0, 2.0]))
    model = nn.Linear(1, 1).to(dtype)
    return Problem(model, Bernoulli(), task, None, 5, torch.device("cpu"), most_instances=most)


def parts(prepare=None, stages=(), augmentations=()):
    return Parts(list(augmentations), prepare, list(stages), [], False, None, None, None)


@pytest.mark.parametrize("shape", [(5,), (4, 3), (4, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_rows_are_prepared_as_the_model_would_bit_by_bit_whatever_the_pieces(shape, dtype, monkeypatch):
    monkeypatch.setattr(lessons, "ROWS_AT_ONCE", 3)
    instances = (np.random.default_rng(0).random((10, *shape)) * 200).astype(dtype)
    prepare = Prepare(shape, scaling(instances, True))
    found, order = lessons.Prepared(problem(instances), parts(prepare)).read(BATCHES, 0)
    assert order.tolist() == [1, 0, 1]
    assert found.instances.dtype == found.importance.dtype == np.float32
    np.testing.assert_array_equal(found.instances, prepare(torch.from_numpy(instances)).flatten(1).numpy())


def test_without_standardisation_rows_are_the_instances():
    rows = np.arange(20.0).reshape(10, 2)
    found, _ = lessons.Prepared(problem(rows, dtype=torch.float64), parts()).read(BATCHES, 0)
    np.testing.assert_array_equal(found.instances, rows)


def test_for_convolution_the_channels_of_a_pixel_lie_side_by_side():
    instances = np.random.default_rng(0).integers(0, 256, (10, 4, 3, 2)).astype(np.uint8)
    prepare = Prepare((4, 3, 2), scaling(instances, True))
    found, _ = lessons.Prepared(problem(instances), parts(prepare, stages=[nn.Conv2d(2, 3, 2)])).read(BATCHES, 0)
    expected = prepare(torch.from_numpy(instances)).numpy()
    np.testing.assert_array_equal(found.instances.reshape(10, 4, 3, 2), expected.transpose(0, 2, 3, 1))


def test_drawn_instances_come_batch_by_batch_with_targets_and_importance_of_their_bags():
    rows = np.arange(20.0).reshape(10, 2)
    source = lessons.Drawn(problem(rows, most=3, dtype=torch.float64), parts())
    found, order = source.read(BATCHES, 4)
    assert order.tolist() == [0, 1, 2]
    assert np.diff(found.offsets).tolist() == [3, 3, 3]
    assert found.targets.tolist() == [1, 0, 1]
    assert found.importance.tolist() == [2, 1, 2]
    own = [found.instances[start : start + 3, 0] / 2 for start in (0, 3, 6)]
    assert all((part >= 4).all() for part in (own[0], own[2]))
    assert (own[1] < 4).all()
    later, _ = source.read(BATCHES[1:], 5)
    np.testing.assert_array_equal(later.instances, found.instances[3:])
