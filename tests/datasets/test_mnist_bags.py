import numpy as np
import pytest

from bagwise.datasets import load_dataset, mnist_bags
from bagwise.errors import InputError
from real_data import needs_real_data

pytestmark = needs_real_data("mnist-bags")


@pytest.fixture(scope="module")
def pools():
    with pytest.MonkeyPatch.context() as patch:
        from real_data import HOME

        patch.setenv("BAGWISE_DATA", str(HOME))
        return {split: mnist_bags.pool(split) for split in mnist_bags.SPLITS}


@pytest.fixture(autouse=True)
def _read_once(pools, monkeypatch):
    monkeypatch.setattr(mnist_bags, "pool", lambda split: pools[split])


def bags_of(**options):
    return load_dataset("mnist-bags", **options)


def held(bags):
    return np.add.reduceat(bags.instance_labels, bags.offsets[:-1])


def test_the_pools_are_mnist(pools):
    (images, digits), (test_images, test_digits) = pools["train"], pools["test"]
    assert images.shape == (60_000, 28, 28)
    assert test_images.shape == (10_000, 28, 28)
    assert digits[:8].tolist() == [5, 0, 4, 1, 9, 2, 1, 3]
    assert ((digits == 9).sum(), (test_digits == 9).sum()) == (5949, 1009)
    assert images.mean() / 255 == pytest.approx(0.1307, abs=1e-4)


def test_bags_of_a_split_hold_images_of_that_split_only(pools):
    known = {split: {image.tobytes() for image in images} for split, (images, _) in pools.items()}
    for split, other in (("train", "test"), ("test", "train")):
        drawn = {image.tobytes() for image in bags_of(split=split, n_bags=200).instances}
        assert drawn <= known[split]
        assert not drawn & known[other]


def test_the_defaults_are_200_and_1000_bags_as_bytes():
    for split, n_bags in (("train", 200), ("test", 1000)):
        bags = bags_of(split=split)
        assert len(bags) == n_bags
        assert bags.instances.dtype == np.uint8
        assert bags.instance_shape == (28, 28)


def test_500_bags_of_100_images_cost_a_byte_a_pixel():
    assert bags_of(n_bags=500, mean_size=100).instances.nbytes < 45e6


@pytest.mark.parametrize("sampling", mnist_bags.SAMPLINGS)
@pytest.mark.parametrize("target", [9, 3, [2, 7]])
def test_a_bag_is_positive_if_and_only_if_it_holds_a_target(sampling, target, pools):
    bags = bags_of(n_bags=300, sampling=sampling, target=target)
    np.testing.assert_array_equal(held(bags) > 0, bags.labels == 1)
    images, digits = pools["train"]
    names = {image.tobytes(): digit for image, digit in zip(images, digits, strict=True)}
    truth = [names[image.tobytes()] in np.atleast_1d(target) for image in bags.instances]
    np.testing.assert_array_equal(truth, bags.instance_labels == 1)


def test_balanced_bags_come_in_turn_and_random_ones_by_chance(pools):
    share = (pools["test"][1] == 9).mean()
    balanced = bags_of(split="test", n_bags=2000)
    assert balanced.labels.tolist() == [1, 0] * 1000
    random = bags_of(split="test", n_bags=2000, sampling="random", spread=0)
    assert random.labels.mean() == pytest.approx(1 - (1 - share) ** 10, abs=0.04)
    assert random.instance_labels.mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("mean", "spread"), [(10, 2), (50, 10), (100, 20), (30, 6)])
@pytest.mark.parametrize("lengths", mnist_bags.LENGTHS)
def test_lengths_follow_their_law(mean, spread, lengths):
    """The authors': deviation s, half an instance cut off on average; the text's: variance s. Rounding adds 1/12."""
    sizes = mnist_bags._sizes(20_000, mean, spread, lengths, np.random.default_rng(0))
    expected = (mean - 0.5, spread**2) if lengths == "authors" else (mean, spread)
    assert sizes.mean() == pytest.approx(expected[0], abs=0.03 * np.sqrt(expected[1]))
    assert sizes.var() == pytest.approx(expected[1] + 1 / 12, rel=0.05)


def test_the_spread_is_the_papers_unless_it_is_given():
    for mean, spread in ((10, 2), (50, 10), (100, 20), (30, 6)):
        one, two = bags_of(n_bags=20, mean_size=mean), bags_of(n_bags=20, mean_size=mean, spread=spread)
        np.testing.assert_array_equal(one.sizes, two.sizes)


def test_the_same_seed_gives_the_same_bags_and_another_does_not():
    one, two, other = (bags_of(n_bags=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.instances, two.instances)
    assert one.instances.shape != other.instances.shape or (one.instances != other.instances).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "validation"}, "no split 'validation'"),
        ({"target": 10}, "digits from 0 to 9"),
        ({"target": []}, "digits from 0 to 9"),
        ({"target": list(range(10))}, "but not all"),
        ({"sampling": "balance"}, "did you mean 'balanced'"),
        ({"lengths": "author"}, "did you mean 'authors'"),
        ({"n_bags": 0}, "n_bags is 0"),
        ({"mean_size": 0.5}, "mean of at least 1"),
        ({"n_bags": 10**7}, "more than 2 GB"),
    ],
)
def test_wrong_words_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        bags_of(**options)


def test_a_file_that_is_not_idx_is_refused(tmp_path):
    file = tmp_path / "labels"
    file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 9, 5]))
    with pytest.raises(InputError, match="labels is not an idx file"):
        mnist_bags._read_idx(file, 1)
