import numpy as np
import pytest
from sklearn.datasets import load_digits

from bagwise.data.datasets import digits
from bagwise.errors import InputError


def test_load_digit_bags_never_shares_an_image_between_training_and_test():
    parts = [digits._load_images(split)[0].reshape(-1, 64) for split in digits.DIGIT_SPLITS]
    assert len(parts[0]) + len(parts[1]) == 1797
    pools = [{row.tobytes() for row in part} for part in parts]
    assert not pools[0] & pools[1]
    for seed in (0, 7):
        for split, pool in zip(digits.DIGIT_SPLITS, pools, strict=True):
            bags = digits.load_digit_bags(split, n_bags=50, seed=seed)
            assert {row.tobytes() for row in bags.instances} <= pool


def test_load_digit_bags_labels_real_digits():
    source = load_digits()
    known = {image.astype(np.uint8).tobytes(): digit for image, digit in zip(source.images, source.target, strict=True)}
    bags = digits.load_digit_bags("train", n_bags=60)
    is_nine = np.array([known[image.tobytes()] == 9 for image in bags.instances])
    np.testing.assert_array_equal(is_nine, bags.instance_labels == 1)
    np.testing.assert_array_equal(np.logical_or.reduceat(is_nine, bags.offsets[:-1]), bags.labels == 1)
    assert bags.instances.dtype == np.uint8


def test_load_digit_bags_depends_on_the_seed_only():
    first, repeated, other = (digits.load_digit_bags("test", n_bags=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.instances, repeated.instances)
    assert first.instances.shape != other.instances.shape or (first.instances != other.instances).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "validation"}, "digits has no split 'validation'; choose one of: train, test"),
        ({"target": 10}, "target must be a digit from 0 to 9, got 10"),
        ({"n_bags": 0}, "n_bags must be at least 2, one bag of each class, got 0"),
    ],
)
def test_load_digit_bags_rejects_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        digits.load_digit_bags(**options)
