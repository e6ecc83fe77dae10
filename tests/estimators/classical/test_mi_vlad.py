import numpy as np
import pytest
from sklearn.cluster import KMeans

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.mi_vlad import Centers, MiVLAD, learn_centers

GENERATOR = np.random.default_rng(2)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 9)])


def compute_vector(bag, centers):
    """Compute the vector of a bag from its definition."""
    sums = np.zeros_like(centers)
    for row in bag:
        distances = [sum((row[m] - center[m]) ** 2 for m in range(len(row))) for center in centers]
        nearest = distances.index(min(distances))
        for m in range(len(row)):
            sums[nearest, m] += row[m] - centers[nearest, m]
    flat = [np.sign(value) * abs(value) ** 0.5 for value in sums.ravel()]
    return np.array(flat) / sum(value**2 for value in flat) ** 0.5


@pytest.mark.parametrize("n_centers", [1, 2, 5])
def test_decision_function_equals_its_definition(n_centers):
    labels = [0, 1, 0, 1] * 3
    bags = Bags.concatenate([BAGS] * 3)
    model = MiVLAD(n_centers=n_centers, scaling="none", calibration=False, random_state=1).fit(bags, labels)
    learned = model.learned_
    vectors = np.array([compute_vector(bag, learned.book.centers) for bag in bags])
    expected = vectors @ learned.machine.weights[0] + learned.machine.biases[0]
    np.testing.assert_allclose(model.decision_function(bags), expected, rtol=0, atol=1e-10)


def test_codes_are_in_the_block_of_the_nearest_centre():
    book = Centers(np.array([[0.0, 0.0], [10.0, 0.0]]))
    codes = book.codes(np.array([[1.0, 2.0], [7.0, -1.0]]))
    np.testing.assert_array_equal(codes, [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, -3.0, -1.0]])


def test_learn_centers_finds_the_mean_or_the_centres_of_k_means():
    rows = np.concatenate([GENERATOR.normal(size=(30, 2)), GENERATOR.normal(size=(30, 2)) + 20])
    np.testing.assert_allclose(learn_centers(rows, 1, seed=0).centers[0], rows.mean(axis=0))
    found = learn_centers(rows, 2, seed=0).centers
    expected = KMeans(2, n_init=3, random_state=7).fit(rows).cluster_centers_
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(expected, axis=0))


def test_fit_separates_three_classes():
    bags = GENERATOR.normal(size=(90, 4, 2)) + np.repeat([[0, 5], [5, 0], [-5, -5]], 30, axis=0)[:, None]
    labels = np.repeat(["a", "b", "c"], 30)
    model = MiVLAD(calibration=False, random_state=0).fit(list(bags), labels)
    assert model.decision_function(list(bags)).shape == (90, 3)
    assert model.score(list(bags), labels) > 0.95


def test_fit_accepts_coincident_points():
    bags = Bags(np.ones((6, 2)), np.arange(7))
    model = MiVLAD(n_centers=2, calibration=False, random_state=0).fit(bags, [0, 1, 0, 1, 0, 1])
    np.testing.assert_allclose(model.weigh(bags), 1)


@pytest.mark.parametrize(
    ("n_centers", "message"),
    [
        (0, "n_centers is 0"),
        (1.5, "n_centers is"),
        (99, "n_centers is 99, but the training bags have only 16 instances; use fewer"),
    ],
)
def test_fit_rejects_invalid_numbers_of_centres_by_name(n_centers, message):
    with pytest.raises(InputError, match=message):
        MiVLAD(n_centers=n_centers).fit(BAGS, [0, 1, 0, 1])


def test_weigh_finds_the_key_instances():
    training, test = (load_dataset("needles", n_bags=100, seed=seed) for seed in (1, 2))
    weights = MiVLAD(calibration=False, random_state=0).fit(training, training.labels).weigh(test)
    positive = test.labels.repeat(test.sizes) == 1
    is_key = positive & (test.instance_labels == 1)
    assert weights[is_key].mean() > 2 * weights[positive & ~is_key].mean()
