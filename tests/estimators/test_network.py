import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from torch import nn

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.pooling import POOLINGS, Attention
from unchecked import unchecked

NEEDLES = load_dataset("needles", n_bags=40)
QUICK = {"epochs": 2, "batch_size": 8, "random_state": 0}
CHECKS = list(
    estimator_checks_generator(BagClassifier(epochs=25, batch_size=64, learning_rate=1e-2, dropout=0.0, device="cpu"))
)


def check_name(check):
    return getattr(check, "func", check).__name__


def test_scikit_learn_checks_are_the_real_ones():
    assert len(CHECKS) >= 55


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda value: check_name(value) if callable(value) else "")
def test_scikit_learn(estimator, check):
    if check_name(check) == "check_array_api_input":
        pytest.skip("needs SCIPY_ARRAY_API=1 before SciPy is imported; the estimator claims no array API support")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks warn on purpose
        check(estimator)


@pytest.mark.parametrize("pooling", ["gated attention", "attention", "max", "mean", "log-sum-exp", "noisy_or", "ISR"])
def test_it_learns_what_decides(pooling):
    """On bags it has not seen it ranks bags well, and its weights or scores find the needles."""
    from bagwise.evaluation import evaluate

    train, test = load_dataset("needles", n_bags=150, shift=3.0), load_dataset("needles", n_bags=100, shift=3.0, seed=1)
    level = "instance" if pooling in ("noisy_or", "ISR") else "embedding"
    model = BagClassifier(pooling=pooling, level=level, epochs=12, batch_size=4, learning_rate=2e-3, random_state=0)
    judged = evaluate(model.fit(train, train.labels), test, test.labels)
    assert judged.metrics["bags"]["auc"]["value"] > 0.9
    if pooling not in ("mean", "max"):  # all weigh the same; coordinates won by any instance, for either class
        assert judged.metrics["instances"]["weights"]["auc"] > 0.9
    assert judged.metrics["instances"]["scores"]["auc"] > 0.9


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("level", ["embedding", "instance"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_laws_of_prediction(pooling, level, n_classes):
    """Order of instances and of bags does not matter, weights sum to one, scores agree with probabilities."""
    labels = np.arange(40) % n_classes
    model = BagClassifier(pooling=pooling, level=level, heads=2, **QUICK)
    if pooling in ("isr", "noisy-or", "noisy-and") and (level == "embedding" or n_classes == 3):
        with pytest.raises(InputError, match="combines probabilities"):
            model.fit(NEEDLES, labels)
        return
    model.fit(NEEDLES, labels)
    probabilities, weights = model.judge(NEEDLES)
    generator = np.random.default_rng(0)
    bag_order = generator.permutation(40)
    shuffled = [NEEDLES[int(bag)][::-1] for bag in bag_order]
    np.testing.assert_allclose(model.predict_proba(shuffled), probabilities[bag_order], atol=1e-5)
    mirrored = np.concatenate([weights[NEEDLES.owners == bag][::-1] for bag in bag_order])
    np.testing.assert_allclose(model.weigh(shuffled), mirrored, atol=1e-5)
    np.testing.assert_allclose(np.bincount(NEEDLES.owners, weights), 1, atol=1e-5)
    assert (weights >= 0).all()
    scores = model.decision_function(NEEDLES)
    if n_classes == 2:
        np.testing.assert_allclose(1 / (1 + np.exp(-scores)), probabilities[:, 1], atol=1e-6)
    else:
        np.testing.assert_array_equal(scores.argmax(axis=1), probabilities.argmax(axis=1))


def test_an_instance_is_scored_like_a_bag_of_it_alone():
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    alone = Bags(NEEDLES.instances, np.arange(NEEDLES.n_instances + 1))
    np.testing.assert_allclose(model.score_instances(NEEDLES), model.decision_function(alone), atol=1e-6)
    assert (model.weigh(alone) == 1.0).all()


def test_it_works_in_grid_search_cross_validation_pipeline_and_clone():
    search = GridSearchCV(BagClassifier(**QUICK), {"pooling": ["max", "mean"]}, cv=2).fit(NEEDLES, NEEDLES.labels)
    assert search.best_params_["pooling"] in ("max", "mean")
    groups = np.repeat(np.arange(10), 4)
    scores = cross_val_score(BagClassifier(**QUICK), NEEDLES, NEEDLES.labels, cv=GroupKFold(3), groups=groups)
    assert len(scores) == 3
    assert np.isfinite(scores).all()
    rows = np.random.default_rng(0).normal(size=(30, 4))
    pipeline = make_pipeline(StandardScaler(), BagClassifier(**QUICK)).fit(rows, rows[:, 0] > 0)
    assert pipeline.predict_proba(rows).shape == (30, 2)
    copy = clone(BagClassifier(encoder=nn.Linear(3, 2), pooling="max"))
    assert copy.pooling == "max"
    assert isinstance(copy.encoder, nn.Linear)


def test_a_pickled_estimator_predicts_the_same_bits():
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_modules_of_the_users_own_are_trained_as_copies():
    torch.manual_seed(0)
    encoder, pooling = nn.Sequential(nn.Linear(16, 8), nn.ReLU()), Attention(8, 4)
    before = encoder[0].weight.detach().clone()
    model = BagClassifier(encoder=encoder, pooling=pooling, **QUICK).fit(NEEDLES, NEEDLES.labels)
    assert torch.equal(encoder[0].weight, before)
    assert not torch.equal(model.model_.encoder[1][0].weight, before)
    assert model.pooling is pooling


def test_images_are_read_by_the_networks_of_the_appendix():
    generator = np.random.default_rng(0)
    bags = [generator.integers(0, 255, size=(3, 27, 27, 3), dtype=np.uint8) for _ in range(6)]
    for encoder in ("auto", "nucleus cnn", "mlp"):
        model = BagClassifier(encoder=encoder, epochs=1, random_state=0).fit(bags, [0, 1] * 3)
        assert np.isfinite(model.predict_proba(bags)).all()
    with pytest.raises(InputError, match="channels first"):
        BagClassifier(epochs=1).fit([np.zeros((2, 3, 27, 27))] * 4, [0, 1] * 2)


def test_standardisation_is_learned_from_training_bags_only():
    """Scaling a feature changes nothing, because training undoes it; validation bags do not take part."""
    scaled = NEEDLES.map(lambda rows: rows * np.float32(1024))
    one = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    two = BagClassifier(**QUICK).fit(scaled, NEEDLES.labels)
    np.testing.assert_allclose(one.predict_proba(NEEDLES), two.predict_proba(scaled), atol=1e-6)
    held = NEEDLES.map(lambda rows: rows + np.float32(1e6))
    three = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels, validation=(held, NEEDLES.labels))
    assert torch.equal(three.model_.encoder[0].center, one.model_.encoder[0].center)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pooling": "atention"}, "did you mean 'attention'"),
        ({"encoder": "lenett"}, "did you mean 'lenet'"),
        ({"level": "bag"}, "level 'bag' is unknown"),
        ({"pooling": 3}, "pooling is a int"),
        ({"encoder": None}, "encoder is a NoneType"),
        ({"augmentation": "histologie"}, "did you mean 'histology'"),
        ({"augmentation": 3}, "augmentation is a int"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"attention_width": 0}, "attention_width is 0"),
        ({"patience": 3}, "patience needs validation"),
        ({"averaging": 0.5, "validation": 0.2}, "averaged weights and the best epoch by validation"),
        ({"validation": 1.5}, "validation is 1.5"),
        ({"device": "gpu"}, "device 'gpu' is unknown"),
        ({"encoder": "lenet"}, "use encoder='mlp'"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused_before_and_in_fit(parameters, message):
    model = BagClassifier(**{**QUICK, **parameters})
    with pytest.raises(InputError, match=message):
        model.check(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match=message):
        model.fit(NEEDLES, NEEDLES.labels)


def test_validation_keeps_groups_together():
    grouped = NEEDLES.replace(groups=np.repeat(np.arange(10), 4))
    model = BagClassifier(validation=0.3, random_state=1)
    model.classes_ = np.array([0, 1])
    model.seed_ = 1
    training, held = model._tasks(grouped, NEEDLES.labels, None)
    assert not set(training.bags.groups) & set(held.bags.groups)
    assert len(training.bags) + len(held.bags) == 40


def test_a_checkpoint_needs_a_seed(tmp_path):
    with pytest.raises(InputError, match="needs random_state"):
        BagClassifier(epochs=1).fit(NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "state")


@pytest.mark.parametrize("augmentation", ["histology", "affine"])
def test_augmentation_acts_in_training_only_and_replays_after_a_resume(tmp_path, augmentation):
    from bagwise.training import TrainingStopped

    generator = np.random.default_rng(0)
    bags = [generator.integers(0, 255, size=(3, 16, 16, 3), dtype=np.uint8) for _ in range(6)]
    labels = [0, 1] * 3

    def make(**changes):
        return BagClassifier(**{"augmentation": augmentation, "epochs": 2, "random_state": 0, **changes})

    whole = make().fit(bags, labels)
    plain = make(augmentation=None).fit(bags, labels)
    assert whole.history_[-1].loss != plain.history_[-1].loss
    np.testing.assert_array_equal(whole.predict_proba(bags), whole.predict_proba(bags))
    left = iter([False, False, False, True])
    with pytest.raises(TrainingStopped):
        make().fit(bags, labels, checkpoint=tmp_path / "state", should_stop=lambda: next(left))
    resumed = make().fit(bags, labels, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.predict_proba(bags), whole.predict_proba(bags))
    whole.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(bags), whole.predict_proba(bags))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": "3"}, r"epochs is '3' \(str\)"),
        ({"epochs": 1.5}, "epochs is 1.5; it must be a whole number"),
        ({"batch_size": 1.5}, "batch_size is 1.5"),
        ({"heads": 1.5}, "heads is 1.5"),
        ({"pooling": "max", "heads": 0}, "heads is 0"),
        ({"attention_width": "64"}, "attention_width is '64'"),
        ({"learning_rate": "a"}, "learning_rate is 'a'"),
        ({"dropout": "x"}, "dropout is 'x'"),
        ({"validation": "x"}, "validation is 'x'"),
        ({"validation": 0, "patience": 2}, "validation is 0"),
        ({"patience": 1.5, "validation": 0.2}, "patience is 1.5"),
        ({"standardize": "no"}, "standardize is 'no'"),
        ({"level": 3}, "level is 3"),
        ({"optimizer": None}, "optimizer is None"),
        ({"class_weight": "foo"}, "class_weight"),
        ({"class_weight": 3}, "class_weight"),
    ],
    ids=str,
)
def test_parameters_of_the_wrong_kind_are_refused_by_name(parameters, message):
    with unchecked(), pytest.raises(InputError, match=message):
        BagClassifier(**{"random_state": 0, "epochs": 1, **parameters}).fit(NEEDLES, NEEDLES.labels)


def test_validation_labels_of_another_number_are_refused():
    with pytest.raises(InputError, match="y holds 3 labels for 4 bags"):
        BagClassifier(epochs=1).fit(NEEDLES, NEEDLES.labels, validation=(NEEDLES[:4], NEEDLES.labels[:3]))


def test_an_encoder_with_tied_weights_can_be_saved(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(16, 16)
            self.second = self.first

        def forward(self, rows):
            return self.second(self.first(rows).relu())

    model = BagClassifier(encoder=Tied(), epochs=1, random_state=0).fit(
        NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "checkpoint.safetensors"
    )
    model.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model", encoder=Tied())
    np.testing.assert_array_equal(again.predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_history_and_names_of_features_are_saved_too(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 2)), columns=["width", "height"])
    model = BagClassifier(epochs=2, random_state=0).fit(frame, [0, 1] * 4)
    model.save(tmp_path / "model")
    again = BagClassifier.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ["width", "height"]
    assert again.history_ == model.history_
