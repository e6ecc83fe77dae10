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

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator, Committee, MIKernel, MiVLAD, PooledClassifier, SuperLearner
from bagwise.estimators.holding.super_learner import default_library, learn_voices
from bagwise.estimators.methods import METHODS
from bagwise.explain import explain
from resealing import reseal

NEEDLES = load_dataset("needles", n_bags=40)
TEST = load_dataset("needles", n_bags=30, seed=1)
FOREST = PooledClassifier(ExtraTreesClassifier(10))
GUESSING = PooledClassifier(DummyClassifier(strategy="uniform"))
LIBRARY = {"trees": FOREST, "kernel": MIKernel(calibration=2), "vectors": MiVLAD(3, calibration=2), "guess": GUESSING}


@pytest.fixture(scope="module")
def model():
    return SuperLearner(LIBRARY, folds=3, random_state=7).fit(NEEDLES, NEEDLES.labels)


def likelihood(voices, probabilities):
    return np.log(voices @ probabilities).sum()


@settings(deadline=None)
@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(1, 40)), elements=st.floats(0.01, 0.99)))
def test_no_other_voices_make_what_was_seen_likelier(probabilities):
    n = len(probabilities)
    found = learn_voices(probabilities)
    best = minimize(
        lambda voices: -likelihood(voices, probabilities),
        np.full(n, 1 / n),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda voices: voices.sum() - 1},
        method="SLSQP",
    )
    lost = np.log1p(0.01 * n) * probabilities.shape[1]  # soft voices are left out
    assert found.sum() == pytest.approx(1)
    assert likelihood(found, probabilities) >= -best.fun - lost - 1e-6


def test_a_method_that_is_sure_and_wrong_once_is_still_heard():
    assert learn_voices(np.array([[0.0] + [0.99] * 50, [0.5] * 51]))[0] > 0.8


def test_it_says_what_its_members_say_by_their_voices(model):
    members = [clone(member).fit(NEEDLES, NEEDLES.labels) for member in model.members_]
    judged = [member.judge(TEST) for member in members]
    probabilities, weights = map(np.array, zip(*judged, strict=True))
    voices = model.voices_[:, None, None]
    np.testing.assert_allclose(model.predict_proba(TEST), (voices * probabilities).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.weigh(TEST), (voices[:, 0] * weights).sum(axis=0), rtol=1e-12)
    mean = (voices * probabilities).sum(axis=0)
    deviation = np.sqrt((voices * (probabilities - mean) ** 2).sum(axis=0))
    np.testing.assert_allclose(model.spread(TEST).probabilities, deviation, atol=1e-12)


def test_who_guesses_has_no_seat(model):
    assert list(model.voice_by_name_) == list(LIBRARY)
    assert model.voice_by_name_["guess"] == 0
    assert len(model.members_) == sum(voice > 0 for voice in model.voice_by_name_.values())
    assert model.voices_.tolist() == [voice for voice in model.voice_by_name_.values() if voice > 0]


def test_with_one_method_it_is_that_method():
    model = SuperLearner({"trees": FOREST}, random_state=3).fit(NEEDLES, NEEDLES.labels)
    alone = Committee({"trees": FOREST}, random_state=3).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.predict_proba(TEST), alone.predict_proba(TEST))


def test_voices_are_learned_on_bags_that_were_held_out_and_groups_stay_together():
    seen = []

    class Watcher(MIKernel):
        def fit(self, X, y=None):
            seen.append((set(X.names), set(X.groups)))
            return super().fit(X, y)

        def predict_proba(self, X):
            assert not seen[-1][0] & set(X.names)
            assert not seen[-1][1] & set(X.groups)
            return super().predict_proba(X)

    grouped = NEEDLES.replace(groups=np.arange(40) // 4)
    SuperLearner({"one": Watcher(calibration=0)}, folds=2).fit(grouped, grouped.labels)
    assert len(seen) == 3
    assert seen[-1][0] == set(NEEDLES.names)


def test_saved_and_loaded_it_predicts_the_same_bits(model, tmp_path):
    model.save(tmp_path / "model")
    again = BagEstimator.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), model.predict_proba(TEST))
    np.testing.assert_array_equal(again.weigh(TEST), model.weigh(TEST))
    assert again.voice_by_name_ == model.voice_by_name_


def test_contributions_sum_to_the_mean_score(model):
    bags = TEST[:3]
    why = explain(model, bags, orders=1)
    np.testing.assert_allclose(
        why.baseline + np.add.reduceat(why.contributions, bags.offsets[:-1]), why.scores, rtol=1e-9
    )


def test_the_library_are_rows_of_the_table_and_new_each_time():
    first, second = default_library(), default_library()
    assert set(first) <= set(METHODS)
    assert not {id(each) for each in first.values()} & {id(each) for each in second.values()}
    assert SuperLearner().__sklearn_tags__().classifier_tags.multi_class


def test_what_makes_no_library_is_refused():
    with pytest.raises(InputError, match=r"estimators is \{\} \(dict\); give each member a name"):
        SuperLearner({}).fit(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match="folds is 1; it must be a whole number of at least 2"):
        SuperLearner(LIBRARY, folds=1).fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize("forged", [[0.5], [1.0, -1.0, 0.5], [float("nan")] * 3], ids=str)
def test_forged_voices_are_refused(forged, tmp_path):
    library = {"first": FOREST, "second": FOREST, "third": FOREST}
    model = SuperLearner(library, random_state=0).fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    numbers = {**load_file(file), "voices": torch.tensor(forged, dtype=torch.float64)}
    save_file(numbers, file)
    reseal(tmp_path / "model")
    with pytest.raises(InputError, match="voices are not one positive number for each member"):
        BagEstimator.load(tmp_path / "model")
