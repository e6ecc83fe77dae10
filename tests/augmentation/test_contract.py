import numpy as np
import pytest

from bagwise.augmentation.contract import Augmentation, gaussian
from bagwise.places import Place


def test_draws_are_uniform_between_zero_and_one():
    module = Augmentation()
    for place in (None, Place(5, 0)):
        module.place = place
        drawn = module.draw(20_000, 2)
        assert 0 < drawn.min() < 0.001
        assert 0.999 < drawn.max() < 1
        assert np.histogram(drawn, bins=10, range=(0, 1))[0] == pytest.approx(4000, abs=5 * np.sqrt(4000))


def test_gaussian_numbers_have_the_moments_and_the_shape_of_the_gaussian():
    module = Augmentation()
    module.place = Place(5, 0)
    numbers = gaussian(module.draw(40_000, 2))
    error = 1 / np.sqrt(len(numbers))
    assert np.abs(numbers.mean(axis=0)).max() < 5 * error
    assert numbers.std(axis=0) == pytest.approx([1, 1], rel=0.02)
    assert abs(np.corrcoef(numbers.T)[0, 1]) < 5 * error
    assert (np.abs(numbers) < 1).mean() == pytest.approx(0.6827, abs=0.01)  # the share within one standard deviation
