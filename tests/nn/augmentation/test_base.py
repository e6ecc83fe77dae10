import numpy as np
import pytest
import torch

from bagwise.nn.augmentation.base import Augmentation, as_float_images, gaussian_from_uniform
from bagwise.nn.dropout import StreamPosition


def test_draw_is_uniform_between_zero_and_one():
    module = Augmentation()
    for position in (None, StreamPosition(5, 0)):
        module.position = position
        uniform = module.sample_uniform(20_000, 2)
        assert 0 < uniform.min() < 0.001
        assert 0.999 < uniform.max() < 1
        assert np.histogram(uniform, bins=10, range=(0, 1))[0] == pytest.approx(4000, abs=5 * np.sqrt(4000))


def test_gaussian_from_uniform_has_the_moments_of_the_gaussian():
    module = Augmentation()
    module.position = StreamPosition(5, 0)
    gaussian = gaussian_from_uniform(module.sample_uniform(40_000, 2))
    error = 1 / np.sqrt(len(gaussian))
    assert np.abs(gaussian.mean(axis=0)).max() < 5 * error
    assert gaussian.std(axis=0) == pytest.approx([1, 1], rel=0.02)
    assert abs(np.corrcoef(gaussian.T)[0, 1]) < 5 * error
    assert (np.abs(gaussian) < 1).mean() == pytest.approx(0.6827, abs=0.01)  # within one standard deviation


def test_as_float_images_converts_bytes_and_keeps_floats():
    assert as_float_images(torch.tensor([3], dtype=torch.uint8)).dtype == torch.float32
    doubles = torch.zeros(2, dtype=torch.float64)
    assert as_float_images(doubles) is doubles
