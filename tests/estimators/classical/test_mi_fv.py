import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.mi_fv import Axes, MiFV, Mixture, compute_principal_axes, learn_mixture

GENERATOR = np.random.default_rng(5)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) * [3, 2, 1] for size in (1, 4, 2, 9)])
MIXTURE = Mixture(
    Axes(np.array([0.5, -0.5, 0.0]), np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])),
    np.array([0.2, 0.5, 0.3]),
    np.array([[0.0, 1.0], [-1.0, 0.5], [2.0, -1.0]]),
    np.array([[0.7, 1.5], [1.0, 0.4], [2.0, 1.1]]),
)


def compute_density(x, mean, deviation):
    value = 1.0
    for m in range(len(x)):
        value *= np.exp(-((x[m] - mean[m]) ** 2) / (2 * deviation[m] ** 2)) / (deviation[m] * np.sqrt(2 * np.pi))
    return value


def compute_log_likelihood(x, shares, means, deviations):
    return np.log(sum(share * compute_density(x, *of) for share, *of in zip(shares, means, deviations, strict=True)))


def compute_code(x, mixture):
    """Compute a code from its definition: the derivatives by the means, then by the deviations."""
    joint = [
        p * compute_density(x, m, d) for p, m, d in zip(mixture.shares, mixture.means, mixture.deviations, strict=True)
    ]
    by_means, by_deviations = [], []
    for k, share in enumerate(mixture.shares):
        gamma = joint[k] / sum(joint)
        for m in range(len(x)):
            z = (x[m] - mixture.means[k][m]) / mixture.deviations[k][m]
            by_means.append(gamma * z / share**0.5)
            by_deviations.append(gamma * (z**2 - 1) / (2 * share) ** 0.5)
    return np.array(by_means + by_deviations)


def test_codes_equal_their_definition():
    rows = GENERATOR.normal(size=(20, 3)) * 2
    expected = [compute_code(x, MIXTURE) for x in MIXTURE.axes.rows(rows)]
    np.testing.assert_allclose(MIXTURE.codes(rows), expected, rtol=1e-10, atol=1e-14)


def test_codes_are_gradients_of_the_log_likelihood():
    row, step = GENERATOR.normal(size=(1, 3)), 1e-5
    x = MIXTURE.axes.rows(row)[0]
    roots = {
        "means": 1 / MIXTURE.deviations,
        "deviations": np.sqrt(2) / MIXTURE.deviations,
    }  # of the Fisher information
    expected = []
    for field, root in roots.items():
        for k, m in np.ndindex(MIXTURE.means.shape):
            ends = []
            for sign in (1, -1):
                parameters = {"means": MIXTURE.means.copy(), "deviations": MIXTURE.deviations.copy()}
                parameters[field][k, m] += sign * step
                ends.append(compute_log_likelihood(x, MIXTURE.shares, **parameters))
            expected.append((ends[0] - ends[1]) / (2 * step) / (root[k, m] * MIXTURE.shares[k] ** 0.5))
    np.testing.assert_allclose(MIXTURE.codes(row)[0], expected, rtol=1e-6, atol=1e-9)


def test_codes_are_finite_far_from_every_gaussian():
    assert np.isfinite(MIXTURE.codes(np.full((1, 3), 1e4))).all()


@pytest.mark.parametrize("n_components", [1, 3])
def test_decision_function_equals_its_definition(n_components):
    bags = Bags.concatenate([BAGS] * 3)
    model = MiFV(n_components, energy=0.9, scaling="none", calibration=False, random_state=1).fit(
        bags, [0, 1, 0, 1] * 3
    )
    book, machine = model.learned_.book, model.learned_.machine
    scores = []
    for bag in bags:
        total = sum(compute_code(x, book) for x in (bag - book.axes.origin) @ book.axes.directions.T)
        rooted = np.array([np.sign(value) * abs(value) ** 0.5 for value in total])
        scores.append(machine.weights[0] @ rooted / sum(rooted**2) ** 0.5 + machine.biases[0])
    np.testing.assert_allclose(model.decision_function(bags), scores, rtol=0, atol=1e-10)


def test_learn_mixture_equals_scikit_learn():
    rows = np.concatenate([GENERATOR.normal(size=(200, 2)), GENERATOR.normal(size=(100, 2)) * [3, 1] + 20])
    found = learn_mixture(rows, 2, 1.0, seed=0)
    solver = GaussianMixture(2, covariance_type="diag", random_state=5).fit(found.axes.rows(rows))
    order, solver_order = found.shares.argsort(), solver.weights_.argsort()
    np.testing.assert_allclose(found.shares[order], solver.weights_[solver_order], rtol=1e-6)
    np.testing.assert_allclose(found.means[order], solver.means_[solver_order], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.deviations[order] ** 2, solver.covariances_[solver_order], rtol=1e-4)


@pytest.mark.parametrize(("energy", "n_axes"), [(0.5, 1), (0.8, 2), (0.95, 3), (1.0, 3)])
def test_compute_principal_axes_keeps_the_fewest_axes_that_explain_the_energy(energy, n_axes):
    rows = GENERATOR.normal(size=(400, 4)) * [3, 2, 1.5, 0]
    axes = compute_principal_axes(rows, energy)
    assert len(axes.directions) == n_axes
    variances = PCA().fit(rows).explained_variance_ratio_
    assert variances[:n_axes].sum() >= energy - 1e-12
    assert n_axes == 1 or variances[: n_axes - 1].sum() < energy
    np.testing.assert_allclose(axes.rows(rows), PCA(n_axes).fit_transform(rows), atol=1e-9)


def test_fit_accepts_rows_without_variance():
    bags = Bags(np.ones((6, 2)), np.arange(7))
    model = MiFV(calibration=False, random_state=0).fit(bags, [0, 1, 0, 1, 0, 1])
    assert np.isfinite(model.predict_proba(bags)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components is 0"),
        ({"n_components": 99}, "n_components is 99, but the training bags have only 16 instances; use fewer"),
        ({"energy": 0}, "energy is 0"),
        ({"energy": 1.5}, "energy is 1.5"),
    ],
)
def test_fit_rejects_invalid_parameters_by_name(parameters, message):
    with pytest.raises(InputError, match=message):
        MiFV(**parameters).fit(BAGS, [0, 1, 0, 1])


def test_weigh_finds_the_key_instances():
    training, test = (load_dataset("needles", n_bags=100, seed=seed) for seed in (1, 2))
    weights = MiFV(calibration=False, random_state=0).fit(training, training.labels).weigh(test)
    positive = test.labels.repeat(test.sizes) == 1
    is_key = positive & (test.instance_labels == 1)
    assert weights[is_key].mean() > 2 * weights[positive & ~is_key].mean()
