import numpy as np
import pytest

from bagwise.data.datasets import mnist_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

needs_mnist = needs_real_data("mnist-bags")


@pytest.fixture(scope="module")
def pools():
    """Return the images and digits of both splits, which are read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAGWISE_DATA", str(HOME))
        return {split: mnist_bags.load_mnist_digits(split) for split in mnist_bags.MNIST_SPLITS}


@pytest.fixture
def load_bags(pools, monkeypatch):
    """Load MNIST-bags without reading the files again."""
    monkeypatch.setattr(mnist_bags, "load_mnist_digits", lambda split: pools[split])
    return lambda **options: load_dataset("mnist-bags", **options)


@needs_mnist
def test_load_mnist_digits_reads_mnist(pools):
    (images, digits), (test_images, test_digits) = pools["train"], pools["test"]
    assert images.shape == (60_000, 28, 28)
    assert test_images.shape == (10_000, 28, 28)
    assert digits[:8].tolist() == [5, 0, 4, 1, 9, 2, 1, 3]
    assert ((digits == 9).sum(), (test_digits == 9).sum()) == (5949, 1009)
    assert images.mean() / 255 == pytest.approx(0.1307, abs=1e-4)


@needs_mnist
def test_load_mnist_bags_samples_images_of_the_split_only(pools, load_bags):
    known = {split: {image.tobytes() for image in images} for split, (images, _) in pools.items()}
    for split, other in (("train", "test"), ("test", "train")):
        sampled = {image.tobytes() for image in load_bags(split=split, n_bags=200).instances}
        assert sampled <= known[split]
        assert not sampled & known[other]


@needs_mnist
def test_load_mnist_bags_has_200_and_1000_bags_of_bytes_by_default(load_bags):
    for split, n_bags in (("train", 200), ("test", 1000)):
        bags = load_bags(split=split)
        assert len(bags) == n_bags
        assert bags.instances.dtype == np.uint8
        assert bags.instance_shape == (28, 28)


@needs_mnist
def test_load_mnist_bags_needs_one_byte_per_pixel(load_bags):
    assert load_bags(n_bags=500, mean_size=100).instances.nbytes < 45e6


@needs_mnist
@pytest.mark.parametrize(("sampling", "target"), [("balanced", 9), ("random", 3), ("balanced", [2, 7])])
def test_load_mnist_bags_labels_a_bag_positive_if_and_only_if_it_contains_a_target(sampling, target, pools, load_bags):
    bags = load_bags(n_bags=300, sampling=sampling, target=target)
    n_targets = np.add.reduceat(bags.instance_labels, bags.offsets[:-1])
    np.testing.assert_array_equal(n_targets > 0, bags.labels == 1)
    known = {image.tobytes(): digit for image, digit in zip(*pools["train"], strict=True)}
    is_target = [known[image.tobytes()] in np.atleast_1d(target) for image in bags.instances]
    np.testing.assert_array_equal(is_target, bags.instance_labels == 1)


@needs_mnist
def test_load_mnist_bags_alternates_balanced_bags_and_leaves_random_ones_to_chance(pools, load_bags):
    share = (pools["test"][1] == 9).mean()
    balanced = load_bags(split="test", n_bags=2000)
    assert balanced.labels.tolist() == [1, 0] * 1000
    random = load_bags(split="test", n_bags=2000, sampling="random", spread=0)
    assert random.labels.mean() == pytest.approx(1 - (1 - share) ** 10, abs=0.04)
    assert random.instance_labels.mean() == pytest.approx(share, abs=0.01)


@needs_mnist
def test_load_mnist_bags_uses_the_spread_of_the_paper_by_default(load_bags):
    for mean, spread in ((10, 2), (50, 10), (100, 20), (30, 6)):
        default, given = load_bags(n_bags=20, mean_size=mean), load_bags(n_bags=20, mean_size=mean, spread=spread)
        np.testing.assert_array_equal(default.sizes, given.sizes)


@needs_mnist
def test_load_mnist_bags_depends_on_the_seed_only(load_bags):
    first, repeated, other = (load_bags(n_bags=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.instances, repeated.instances)
    assert first.instances.shape != other.instances.shape or (first.instances != other.instances).any()


@needs_mnist
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "validation"}, "no split 'validation'"),
        ({"target": 10}, "digits from 0 to 9, but not all, got 10"),
        ({"target": []}, r"digits from 0 to 9, but not all, got \[\]"),
        ({"target": list(range(10))}, "but not all"),
        ({"sampling": "balance"}, "did you mean 'balanced'"),
        ({"lengths": "author"}, "did you mean 'authors'"),
        ({"n_bags": 0}, "n_bags must be at least 2, one bag of each class, got 0"),
        ({"mean_size": 0.5}, r"mean_size must be at least 1 .* got mean_size=0\.5"),
        ({"n_bags": 10**7}, "more than 2 GB"),
    ],
)
def test_load_mnist_bags_rejects_wrong_options(load_bags, options, message):
    with pytest.raises(InputError, match=message):
        load_bags(**options)


@pytest.mark.parametrize(("mean", "spread"), [(10, 2), (50, 10), (100, 20), (30, 6)])
@pytest.mark.parametrize("lengths", mnist_bags.LENGTHS)
def test_sample_sizes_has_the_documented_mean_and_variance(mean, spread, lengths):
    """With "authors", s is the standard deviation, and truncation subtracts 1/2 on average.

    With "text", s is the variance. Rounding adds 1/12 to the variance.
    """
    sizes = mnist_bags._sample_sizes(20_000, mean, spread, lengths, np.random.default_rng(0))
    expected = (mean - 0.5, spread**2) if lengths == "authors" else (mean, spread)
    assert sizes.mean() == pytest.approx(expected[0], abs=0.03 * np.sqrt(expected[1]))
    assert sizes.var() == pytest.approx(expected[1] + 1 / 12, rel=0.05)


def test_read_idx_rejects_another_file_by_name(tmp_path):
    file = tmp_path / "labels"
    file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 9, 5]))
    with pytest.raises(InputError, match=r"labels is not an idx file.*bagwise data fetch mnist-bags"):
        mnist_bags._read_idx(file, 1)
