import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.pooled import PooledClassifier, get_importances, pool_bags

GENERATOR = np.random.default_rng(6)
BAGS = Bags.from_list([GENERATOR.normal(size=(size, 3)) for size in (1, 4, 2, 9) * 5])
LABELS = np.arange(20) % 2


def test_pool_bags_concatenates_the_statistics():
    expected = [np.concatenate([bag.mean(axis=0), bag.min(axis=0), bag.max(axis=0)]) for bag in BAGS]
    np.testing.assert_allclose(pool_bags(BAGS, ("mean", "min", "max")), expected, rtol=1e-12)
    np.testing.assert_allclose(pool_bags(BAGS, ["max"]), [bag.max(axis=0) for bag in BAGS])


def test_predict_proba_equals_that_of_the_classifier_on_pooled_rows():
    model = PooledClassifier(LogisticRegression(), ("min", "mean"), scaling="none").fit(BAGS, LABELS)
    rows = np.array([np.concatenate([bag.min(axis=0), bag.mean(axis=0)]) for bag in BAGS])
    expected = LogisticRegression().fit(rows, LABELS).predict_proba(rows)
    np.testing.assert_allclose(model.predict_proba(BAGS), expected, rtol=1e-10)


def test_predict_proba_preserves_certain_predictions():
    model = PooledClassifier(DecisionTreeClassifier(), scaling="none", random_state=0).fit(BAGS, LABELS)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], LABELS, atol=1e-11)


@pytest.mark.parametrize("classifier", [LogisticRegression(), ExtraTreesClassifier(5), GaussianNB()], ids=str)
def test_weigh_averages_the_shares_over_columns_by_importance(classifier):
    model = PooledClassifier(classifier, ("max", "mean", "min"), scaling="none", random_state=0).fit(BAGS, LABELS)
    fitted = model.learned_.classifier
    importances = {
        "LogisticRegression": lambda: np.abs(fitted.coef_[0]),
        "ExtraTreesClassifier": lambda: fitted.feature_importances_,
    }
    counts = importances.get(type(fitted).__name__, lambda: np.ones(9))()
    expected = []
    for bag in BAGS:
        for row in bag:
            parts = [float(row[m] == max(bag[:, m])) for m in range(3)] + [1 / len(bag)] * 3
            parts += [float(row[m] == min(bag[:, m])) for m in range(3)]
            expected.append(sum(part * count for part, count in zip(parts, counts, strict=True)) / sum(counts))
    np.testing.assert_allclose(model.weigh(BAGS), expected, rtol=1e-10)


def test_weigh_splits_ties():
    bags = Bags.from_list([[[1.0], [1.0], [0.0]], [[0.0], [2.0], [1.0]]])
    model = PooledClassifier(GaussianNB(), ("max",), scaling="none").fit(bags, [0, 1])
    np.testing.assert_allclose(model.weigh(bags), [0.5, 0.5, 0.0, 0.0, 1.0, 0.0])


def test_get_importances_is_uniform_for_a_classifier_without_splits():
    stump = DecisionTreeClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    np.testing.assert_array_equal(get_importances(stump, 2), [0.5, 0.5])


@pytest.mark.parametrize("statistics", ["mean", (), None, 3])
def test_fit_rejects_invalid_statistics(statistics):
    with pytest.raises(InputError, match=r"statistics is .*; it must be a list of mean, min, max"):
        PooledClassifier(statistics=statistics).fit(BAGS, LABELS)
    with pytest.raises(InputError, match="did you mean 'mean'"):
        PooledClassifier(statistics=["men"]).fit(BAGS, LABELS)


def test_score_is_high_on_new_bags():
    training, test = (load_dataset("needles", n_bags=100, seed=seed) for seed in (1, 2))
    model = PooledClassifier(random_state=0).fit(training, training.labels)
    assert model.score(test, test.labels) > 0.8
