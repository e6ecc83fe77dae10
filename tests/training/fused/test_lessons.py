import numpy as np
import pytest
import torch

from bagwise.bags import Bags
from bagwise.inputs import Prepare, scaling
from bagwise.training.fused import lessons
from bagwise.training.tasks import Task


@pytest.mark.parametrize("shape", [(5,), (4, 3), (4, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_rows_are_prepared_as_the_model_would_bit_by_bit_whatever_the_pieces(shape, dtype, monkeypatch):
    monkeypatch.setattr(lessons, "ROWS_AT_ONCE", 3)
    instances = (np.random.default_rng(0).random((10, *shape)) * 200).astype(dtype)
    prepare = Prepare(shape, scaling(instances, True))
    task = Task(Bags(instances, np.array([0, 4, 10])), np.array([0, 1]), np.ones(2))
    found = lessons.prepare_lessons(task, prepare, torch.float32, for_convolution=False)
    assert found.instances.dtype == found.importance.dtype == np.float32
    np.testing.assert_array_equal(found.instances, prepare(torch.from_numpy(instances)).flatten(1).numpy())


def test_without_standardisation_rows_are_the_instances():
    rows = np.arange(8.0).reshape(4, 2)
    task = Task(Bags(rows, np.array([0, 1, 4])), np.array([0, 1]), np.ones(2))
    np.testing.assert_array_equal(
        lessons.prepare_lessons(task, None, torch.float64, for_convolution=False).instances, rows
    )


def test_for_convolution_the_channels_of_a_pixel_lie_side_by_side():
    instances = np.random.default_rng(0).integers(0, 256, (6, 4, 3, 2)).astype(np.uint8)
    prepare = Prepare((4, 3, 2), scaling(instances, True))
    task = Task(Bags(instances, np.array([0, 2, 6])), np.array([0, 1]), np.ones(2))
    found = lessons.prepare_lessons(task, prepare, torch.float32, for_convolution=True).instances
    expected = prepare(torch.from_numpy(instances)).numpy()
    np.testing.assert_array_equal(found.reshape(6, 4, 3, 2), expected.transpose(0, 2, 3, 1))
