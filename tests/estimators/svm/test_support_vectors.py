import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import MISVM, MiSVM

KINDS = [MISVM, MiSVM]
BAGS = load_dataset("needles", n_bags=60)
PLAIN = {"calibration": 0, "random_state": 0}


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def fitted(request):
    return request.param(**PLAIN).fit(BAGS, BAGS.labels)


def test_a_bag_scores_as_its_best_instance_which_has_all_the_weight(fitted):
    scores = np.split(fitted.score_instances(BAGS), BAGS.offsets[1:-1])
    np.testing.assert_allclose(fitted.decision_function(BAGS), [own.max() for own in scores], rtol=1e-12)
    weights = np.split(fitted.weigh(BAGS), BAGS.offsets[1:-1])
    assert all(share[own.argmax()] == 1 for share, own in zip(weights, scores, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_witnesses_that_are_alike_share_the_weight_wherever_they_stand(fitted, seed):
    draws = np.random.default_rng(seed)
    rows = np.vstack([BAGS[0], BAGS[1], BAGS[2]])
    best = fitted.score_instances(Bags(rows, np.array([0, len(rows)]))).argmax()
    copies = int(draws.integers(2, 6))
    order = draws.permutation(len(rows) + copies - 1)
    mixed = np.vstack([rows, np.repeat(rows[[best]], copies - 1, axis=0)])[order]
    weights = fitted.weigh(Bags(mixed, np.array([0, len(mixed)])))
    np.testing.assert_allclose(np.sort(weights)[-copies:], 1 / copies)
    assert np.count_nonzero(weights) == copies


@pytest.mark.parametrize("kind", KINDS)
def test_many_landmarks_come_near_the_exact_kernel(kind):
    exact = kind(**PLAIN).fit(BAGS, BAGS.labels).decision_function(BAGS)
    few, many = (
        kind(components=components, **PLAIN).fit(BAGS, BAGS.labels).decision_function(BAGS) for components in (5, 400)
    )
    assert np.corrcoef(exact, many)[0, 1] > 0.95
    assert np.abs(exact - many).mean() < 0.5 * np.abs(exact - few).mean()


def test_landmarks_are_drawn_by_the_seed():
    first, again, other = (
        MISVM(components=10, calibration=0, random_state=seed).fit(BAGS, BAGS.labels).learned_.function.rows
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_more_weight_is_predicted_more_often(kind):
    words = np.where(BAGS.labels == 1, "tumour", "normal")
    found = [
        (kind(C=0.01, class_weight={"normal": 1, "tumour": factor}, **PLAIN).fit(BAGS, words).predict(BAGS) == "tumour")
        for factor in (0.01, 100)
    ]
    assert found[0].mean() < 0.1
    assert found[1].mean() > 0.9


def test_an_unfinished_fit_says_so():
    with pytest.warns(ConvergenceWarning, match="after 1 fits of a plane; raise max_iterations"):
        model = MISVM(max_iterations=1, **PLAIN).fit(BAGS, BAGS.labels)
    assert not model.learned_.converged
    assert len(model.objective_) == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": "big"}, "C is 'big'"),
        ({"kernel": "poly"}, "kernel 'poly' is unknown"),
        ({"gamma": -1}, "gamma is -1"),
        ({"components": 0}, "components is 0"),
        ({"components": 2.5}, "components is 2.5"),
        ({"class_weight": "even"}, "class_weight: .*'even'.* give None, 'balanced', or a factor"),
        ({"class_weight": {0: 1, 1: -2}}, "the class_weight of 1 is -2"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_is_refused_by_name(kind, parameters, words):
    with pytest.raises(InputError, match=words):
        kind(**PLAIN, **parameters).fit(BAGS, BAGS.labels)
