import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.torch import load_file, save_file
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.super_learner import SuperLearner, learn_member_weights, make_default_library
from bagwise.estimators.registry import METHODS
from bagwise.explain.explanation import explain_bags
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=40)
TEST = load_dataset("needles", n_bags=30, seed=1)
FOREST = PooledClassifier(ExtraTreesClassifier(10))
GUESS = PooledClassifier(DummyClassifier(strategy="uniform"))
LIBRARY = {"trees": FOREST, "kernel": MIKernel(), "vectors": MiVLAD(3), "guess": GUESS}


@pytest.fixture(scope="module")
def model():
    return SuperLearner(LIBRARY, folds=3, random_state=1).fit(NEEDLES, NEEDLES.labels)


def compute_likelihood(weights, probabilities):
    return np.log(weights @ probabilities).sum()


@settings(deadline=None)
@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(1, 40)), elements=st.floats(0.01, 0.99)))
def test_learn_member_weights_maximises_the_likelihood(probabilities):
    n = len(probabilities)
    found = learn_member_weights(probabilities)
    best = minimize(
        lambda weights: -compute_likelihood(weights, probabilities),
        np.full(n, 1 / n),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
    )
    lost = np.log1p(0.01 * n) * probabilities.shape[1]  # small weights are set to zero
    assert found.sum() == pytest.approx(1)
    assert compute_likelihood(found, probabilities) >= -best.fun - lost - 1e-6


def test_learn_member_weights_keeps_a_member_with_one_wrong_prediction_of_probability_zero():
    assert learn_member_weights(np.array([[0.0] + [0.99] * 50, [0.5] * 51]))[0] > 0.8


def test_predictions_are_averaged_with_the_member_weights(model):
    members = [clone(member).fit(NEEDLES, NEEDLES.labels) for member in model.members_]
    predictions = [member.predict_with_weights(TEST) for member in members]
    probabilities, weights = map(np.array, zip(*predictions, strict=True))
    member_weights = model.member_weights_[:, None, None]
    np.testing.assert_allclose(model.predict_proba(TEST), (member_weights * probabilities).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.weigh(TEST), (member_weights[:, 0] * weights).sum(axis=0), rtol=1e-12)
    mean = (member_weights * probabilities).sum(axis=0)
    deviation = np.sqrt((member_weights * (probabilities - mean) ** 2).sum(axis=0))
    np.testing.assert_allclose(model.spread(TEST).outputs, deviation, atol=1e-12)


def test_fit_drops_a_candidate_with_random_predictions(model):
    assert list(model.weight_by_name_) == list(LIBRARY)
    assert model.weight_by_name_["guess"] == 0
    assert len(model.members_) == sum(weight > 0 for weight in model.weight_by_name_.values())
    assert model.member_weights_.tolist() == [weight for weight in model.weight_by_name_.values() if weight > 0]


def test_super_learner_with_one_candidate_has_the_predictions_of_the_candidate():
    model = SuperLearner({"trees": FOREST}, random_state=3).fit(NEEDLES, NEEDLES.labels)
    alone = Committee({"trees": FOREST}, random_state=3).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.predict_proba(TEST), alone.predict_proba(TEST))


def test_fit_learns_the_weights_on_held_out_bags_and_keeps_groups_together():
    fitted = []

    class Recorder(MIKernel):
        def fit(self, X, y=None):
            fitted.append((set(X.names), set(X.groups)))
            return super().fit(X, y)

        def predict_outputs(self, X):
            assert not fitted[-1][0] & set(X.names)
            assert not fitted[-1][1] & set(X.groups)
            return super().predict_outputs(X)

    grouped = NEEDLES.replace(groups=np.arange(40) // 4)
    SuperLearner({"one": Recorder(calibration=False)}, folds=2).fit(grouped, grouped.labels)
    assert len(fitted) == 3
    assert fitted[-1][0] == set(NEEDLES.names)


def test_load_restores_the_super_learner_bit_identically(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEST), model.predict_proba(TEST))
    np.testing.assert_array_equal(loaded.weigh(TEST), model.weigh(TEST))
    assert loaded.weight_by_name_ == model.weight_by_name_


def test_explain_bags_returns_contributions_that_sum_to_the_score(model):
    bags = TEST[:3]
    explanation = explain_bags(model, bags, orders=1)
    np.testing.assert_allclose(
        explanation.baseline + np.add.reduceat(explanation.contributions, bags.offsets[:-1]),
        explanation.scores,
        rtol=1e-9,
    )


def test_make_default_library_returns_new_registered_methods():
    first, second = make_default_library(), make_default_library()
    assert set(first) <= set(METHODS)
    assert not {id(each) for each in first.values()} & {id(each) for each in second.values()}
    assert SuperLearner().__sklearn_tags__().classifier_tags.multi_class


def test_fit_rejects_invalid_parameters_by_name():
    with pytest.raises(InputError, match=r"estimators is \{\} \(dict\); it must be a dict of named estimators"):
        SuperLearner({}).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="folds is 1; it must be a whole number of at least 2"):
        SuperLearner(LIBRARY, folds=1).fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize(
    "forge",
    [
        lambda weights: weights[:1],
        lambda weights: torch.cat([-weights[:1], 1 + weights[:1], weights[2:]]),
        lambda weights: weights * float("nan"),
        lambda weights: weights / 2,
    ],
    ids=["too few", "negative", "not a number", "sum below one"],
)
def test_load_rejects_forged_member_weights(model, forge, tmp_path):
    n_members = len(model.members_)
    assert n_members >= 2
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    tensors = load_file(file)
    save_file({**tensors, "member_weights": forge(tensors["member_weights"])}, file)
    reseal(tmp_path / "model")
    with pytest.raises(InputError, match=f"weights must be one positive number for each of the {n_members} members"):
        BagEstimator.load(tmp_path / "model")
