import numpy as np
import pytest
import torch
from torch import nn

pytest.importorskip("numba")

from bagwise.bags.bags import Bags
from bagwise.nn.preprocessing import Preprocessing, fit_scaling
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import TrainingTask
from bagwise.training.engines.base import TrainingProblem
from bagwise.training.engines.fused import batch_sources
from bagwise.training.engines.fused.batch_sources import PreparedBatches, SampledBatches
from bagwise.training.engines.fused.compatibility import ModelParts

BATCHES = [np.array([1]), np.array([0, 1])]


def make_problem(instances, most_instances=None, dtype=torch.float32):
    """Return a problem with two bags of 4 and 6 instances."""
    model = nn.Linear(1, 1).to(dtype)
    return TrainingProblem(
        model=model,
        likelihood=Bernoulli(),
        task=TrainingTask(Bags(instances, np.array([0, 4, 10])), np.array([0, 1]), np.array([1.0, 2.0])),
        optimizer=torch.optim.SGD(model.parameters()),
        seed=5,
        device=torch.device("cpu"),
        most_instances=most_instances,
    )


def make_parts(preprocessing=None, convolutions=()):
    return ModelParts(
        augmentations=[],
        preprocessing=preprocessing,
        convolutions=list(convolutions),
        layers=[],
        connected=False,
        pooling=None,
        classifier=None,
        head=None,
    )


@pytest.mark.parametrize(
    ("shape", "dtype"), [((5,), np.float32), ((5,), np.float64), ((4, 3), np.uint8), ((4, 3, 2), np.uint8)]
)
def test_prepared_batches_match_the_preprocessing_of_the_model_bit_by_bit(shape, dtype, monkeypatch):
    monkeypatch.setattr(batch_sources, "PREPARED_ROWS", 3)
    instances = (np.random.default_rng(0).random((10, *shape)) * 200).astype(dtype)
    preprocessing = Preprocessing(shape, fit_scaling(Bags(instances, np.array([0, len(instances)])), "standard"))
    bags, order = PreparedBatches(make_problem(instances), make_parts(preprocessing)).read(BATCHES, 0)
    assert order.tolist() == [1, 0, 1]
    assert bags.instances.dtype == bags.importance.dtype == np.float32
    np.testing.assert_array_equal(bags.instances, preprocessing(torch.from_numpy(instances)).flatten(1).numpy())


def test_prepared_batches_without_preprocessing_contain_the_instances():
    rows = np.arange(20.0).reshape(10, 2)
    bags, _ = PreparedBatches(make_problem(rows, dtype=torch.float64), make_parts()).read(BATCHES, 0)
    np.testing.assert_array_equal(bags.instances, rows)


def test_prepared_batches_have_channels_last_for_convolutions():
    instances = np.random.default_rng(0).integers(0, 256, (10, 4, 3, 2)).astype(np.uint8)
    preprocessing = Preprocessing((4, 3, 2), fit_scaling(Bags(instances, np.array([0, len(instances)])), "standard"))
    parts = make_parts(preprocessing, convolutions=[nn.Conv2d(2, 3, 2)])
    bags, _ = PreparedBatches(make_problem(instances), parts).read(BATCHES, 0)
    expected = preprocessing(torch.from_numpy(instances)).numpy()
    np.testing.assert_array_equal(bags.instances.reshape(10, 4, 3, 2), expected.transpose(0, 2, 3, 1))


def test_sampled_batches_have_the_targets_and_importance_of_their_bags():
    rows = np.arange(20.0).reshape(10, 2)
    source = SampledBatches(make_problem(rows, most_instances=3, dtype=torch.float64), make_parts())
    bags, order = source.read(BATCHES, 4)
    assert order.tolist() == [0, 1, 2]
    assert np.diff(bags.offsets).tolist() == [3, 3, 3]
    assert bags.targets.tolist() == [1, 0, 1]
    assert bags.importance.tolist() == [2, 1, 2]
    sampled = [bags.instances[start : start + 3, 0] / 2 for start in (0, 3, 6)]
    assert all((part >= 4).all() for part in (sampled[0], sampled[2]))
    assert (sampled[1] < 4).all()


def test_sampled_batches_depend_on_the_step_and_not_on_the_call():
    source = SampledBatches(make_problem(np.arange(20.0).reshape(10, 2), most_instances=3), make_parts())
    both, _ = source.read(BATCHES, 4)
    second, _ = source.read(BATCHES[1:], 5)
    np.testing.assert_array_equal(second.instances, both.instances[3:])
