import numpy as np
import pytest
from sklearn.datasets import load_digits

from bagwise.datasets import digits
from bagwise.errors import InputError


def test_no_image_is_in_training_and_test_whatever_the_seeds():
    parts = [digits._pool(split)[0].reshape(-1, 64) for split in digits.SPLITS]
    assert len(parts[0]) + len(parts[1]) == 1797
    pools = [{row.tobytes() for row in part} for part in parts]
    assert not pools[0] & pools[1]
    for seed in (0, 7):
        for split, pool in zip(digits.SPLITS, pools, strict=True):
            bags = digits.load(split, n_bags=50, seed=seed)
            assert {row.tobytes() for row in bags.instances} <= pool


def test_bags_hold_real_digits_as_bytes_and_know_the_nines():
    source = load_digits()
    known = {image.astype(np.uint8).tobytes(): digit for image, digit in zip(source.images, source.target, strict=True)}
    bags = digits.load("train", n_bags=60)
    truth = np.array([known[image.tobytes()] == 9 for image in bags.instances])
    np.testing.assert_array_equal(truth, bags.instance_labels == 1)
    np.testing.assert_array_equal(np.logical_or.reduceat(truth, bags.offsets[:-1]), bags.labels == 1)
    assert bags.instances.dtype == np.uint8


def test_the_same_seed_gives_the_same_bags_and_another_does_not():
    one, two, other = (digits.load("test", n_bags=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.instances, two.instances)
    assert one.instances.shape != other.instances.shape or (one.instances != other.instances).any()


def test_wrong_words_are_refused():
    with pytest.raises(InputError, match="no split 'validation'"):
        digits.load("validation")
    with pytest.raises(InputError, match="digit from 0 to 9"):
        digits.load(target=10)
    with pytest.raises(InputError, match="n_bags is 0; draw at least 2"):
        digits.load(n_bags=0)
