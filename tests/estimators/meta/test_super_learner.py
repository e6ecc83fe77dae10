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
from bagwise.estimators.calibration import MajorityWarning
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta import screening
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.screening import DEFAULT_SCREEN
from bagwise.estimators.meta.super_learner import SuperLearner, learn_member_weights, make_default_library
from bagwise.estimators.registry import METHODS, build_method
from bagwise.explain.explanation import explain_bags
from bagwise.io import read_json
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=40)
TEST = load_dataset("needles", n_bags=30, seed=1)
FOREST = PooledClassifier(ExtraTreesClassifier(10))
GUESS = PooledClassifier(DummyClassifier(strategy="uniform"))
LIBRARY = {"trees": FOREST, "kernel": MIKernel(), "vectors": MiVLAD(3), "guess": GUESS}


@pytest.fixture(scope="module")
def model():
    return SuperLearner(LIBRARY, folds=3, prior=0, random_state=1).fit(NEEDLES, NEEDLES.labels)


def compute_objective(weights, probabilities, prior=0.0):
    penalty = prior * np.log(weights).sum() if prior else 0.0
    return np.log(weights @ probabilities).sum() + penalty


PRIORS = st.sampled_from([0.0, 1.0, 3.0])


@settings(deadline=None)
@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(1, 40)), elements=st.floats(0.01, 0.99)), PRIORS)
def test_learn_member_weights_maximises_likelihood_and_prior(probabilities, prior):
    n = len(probabilities)
    found = learn_member_weights(probabilities, prior)
    best = minimize(
        lambda weights: -compute_objective(weights, probabilities, prior),
        np.full(n, 1 / n),
        bounds=[(1e-9, 1)] * n,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        method="SLSQP",
    )
    # without a prior, small weights are set to zero; with one, none of so few bags is small
    lost = 0.0 if prior else np.log1p(0.01 * n) * probabilities.shape[1]
    assert found.sum() == pytest.approx(1)
    assert compute_objective(found, probabilities, prior) >= -best.fun - lost - 1e-5


def test_learn_member_weights_are_equal_for_a_strong_prior():
    probabilities = np.random.default_rng(0).uniform(size=(4, 20))
    np.testing.assert_allclose(learn_member_weights(probabilities, prior=1e9), 1 / 4)


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
    assert loaded.screening_ == model.screening_
    assert loaded.screen_ == model.screen_ == list(LIBRARY)


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
    assert build_method("super learner").__sklearn_tags__().classifier_tags.multi_class


SCREEN = ["MI-Kernel", "extra trees", "mi-Graph"]


def read_model(model, folder):
    """The bytes of the tensors of a saved model, and what it learned."""
    model.save(folder)
    return (folder / "model.safetensors").read_bytes(), read_json(folder / "model.json")["learned"]


def test_fit_within_a_budget_is_repeated_exactly_by_its_list(tmp_path):
    kinds = ["naive", *SCREEN]
    whole = SuperLearner(screen=kinds, random_state=0).fit(NEEDLES, NEEDLES.labels)
    seconds = {screened.name: screened.seconds for screened in whole.screening_}
    budget = sum(seconds.values()) - max(seconds.values())
    short = SuperLearner(screen=kinds, budget=budget, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert short.screen_ == [name for name in kinds if seconds[name] < max(seconds.values())]
    again = SuperLearner(screen=short.screen_, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert read_model(short, tmp_path / "short") == read_model(again, tmp_path / "again")
    assert read_model(whole, tmp_path / "whole") != read_model(again, tmp_path / "again")


def test_budget_selects_methods_before_any_is_fitted(monkeypatch):
    monkeypatch.setattr(MIKernel, "fit", None)
    model = SuperLearner(screen=["MI-Kernel", "extra trees"], budget="0.01s")
    for reject in (model.fit, model.check):
        with pytest.raises(InputError, match=r"budget is 0\.01 s, but MI-Kernel, .* --budget 1s"):
            reject(NEEDLES, NEEDLES.labels)


def test_fit_uses_the_outputs_that_candidates_hold_out_themselves():
    fits = []

    class Counter(MIKernel):
        def fit(self, X, y=None):
            fits.append(len(X))
            return super().fit(X, y)

    model = SuperLearner({"one": Counter()}, random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert fits == [40]
    (screened,) = model.screening_
    assert screened.metrics["log_loss"] == pytest.approx(model.members_[0].held_out_loss_.method)


def test_screening_has_the_metrics_of_held_out_bags_only():
    """Labels without information are not predicted, however well they are learned by heart."""
    labels = np.random.default_rng(0).permutation(NEEDLES.labels)
    memory = {"memory": PooledClassifier(ExtraTreesClassifier(50, random_state=0))}
    model = SuperLearner(memory, random_state=0).fit(NEEDLES, labels)
    assert model.members_[0].score(NEEDLES, labels) == 1
    assert model.screening_[0].metrics["accuracy"] < 0.8


def test_default_list_leaves_out_methods_that_cannot_predict_the_target():
    labels = np.arange(40) % 3
    with pytest.raises(InputError, match="MISVM predicts whether a bag contains a positive instance"):
        SuperLearner(screen=["MI-SVM", "extra trees"]).fit(NEEDLES, labels)
    model = SuperLearner()
    names = list(model._list_candidates(labels, 40))
    assert set(DEFAULT_SCREEN) - set(names) == {"MI-SVM"}
    assert model.learn_target(labels, 40).n_outputs == 3
    assert model.__sklearn_tags__().classifier_tags.multi_class


def test_default_list_leaves_out_methods_that_are_not_made_for_so_many_instances(monkeypatch):
    monkeypatch.setattr(screening, "MAX_EXACT_ROWS", NEEDLES.n_instances - 1)
    assert set(DEFAULT_SCREEN) - set(SuperLearner()._plan(NEEDLES, NEEDLES.labels).library) == {"MI-SVM"}
    named = SuperLearner(screen=["MI-SVM", "naive"])
    assert set(named._plan(NEEDLES, NEEDLES.labels).library) == {"MI-SVM", "naive"}


def test_fit_warns_once_if_the_vote_does_not_beat_the_majority(recwarn):
    same = NEEDLES.replace(instances=np.zeros_like(NEEDLES.instances))
    model = SuperLearner(screen=["MI-Kernel", "mi-Graph"], random_state=0).fit(same, NEEDLES.labels)
    assert not any(member.held_out_loss_.beats_majority for member in model.members_)
    (warning,) = [warning for warning in recwarn if warning.category is MajorityWarning]
    assert str(warning.message).startswith("SuperLearner does not beat the majority on its own held-out bags")
    SuperLearner(screen=["MI-Kernel"], random_state=0).fit(NEEDLES, NEEDLES.labels)
    assert len([warning for warning in recwarn if warning.category is MajorityWarning]) == 1


def test_auto_and_super_learner_are_the_same_machinery():
    for name in ("auto", "super learner"):
        assert isinstance(build_method(name), SuperLearner)
    assert build_method("auto", screen=SCREEN).get_params() == SuperLearner(screen=SCREEN).get_params()
    assert build_method("super learner").estimators.keys() == make_default_library().keys()
    assert (build_method("super learner").folds, build_method("super learner").prior) == (5, 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"screen": "extra trees"}, r"screen is 'extra trees' \(str\); it must be a list of names"),
        ({"screen": ["extra tree"]}, "method 'extra tree' is unknown; did you mean 'extra trees'"),
        ({"screen": ["auto"]}, "method 'auto' is unknown"),
        ({"screen": ["mi-Graph", "migraph"]}, "screen has mi-Graph more than once"),
        ({"budget": "soon"}, "budget is 'soon'"),
        ({"prior": -1}, "prior is -1"),
        ({"estimators": LIBRARY, "screen": SCREEN}, "estimators cannot be combined with screen and budget"),
        ({"estimators": LIBRARY, "budget": "1m"}, "estimators cannot be combined with screen and budget"),
    ],
)
def test_fit_and_check_reject_invalid_screening_by_name(parameters, message):
    for reject in (SuperLearner(**parameters).fit, SuperLearner(**parameters).check):
        with pytest.raises(InputError, match=message):
            reject(NEEDLES, NEEDLES.labels)


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
