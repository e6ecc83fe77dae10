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

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import network
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.training_tasks import plan_training
from bagwise.io import read_json, write_json, write_manifest
from bagwise.nn.model_average import list_members
from bagwise.nn.pooling.attention import Attention
from bagwise.nn.pooling.base import ProbabilityPooling
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.training.loop import TrainingStopped
from contexts import CONTEXTS, every_context
from unchecked import unchecked


def name_check(check):
    return getattr(check, "func", check).__name__


NEEDLES = load_dataset("needles", n_bags=40)
QUICK = {"epochs": 2, "batch_size": 8, "random_state": 0}
NOT_CLAIMED = {
    "check_array_api_input",  # needs SCIPY_ARRAY_API=1; no array API support is claimed
    "check_sample_weight_equivalence_on_dense_data",  # the order of the bags is sampled from all bags
}
CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(
        BagClassifier(epochs=15, batch_size=64, learning_rate=1e-2, dropout=0.0, validation=2, device="cpu")
    )
    if name_check(check) not in NOT_CLAIMED
]
PROBABILITY_POOLINGS = [name for name in POOLINGS if issubclass(POOLINGS[name], ProbabilityPooling)]
ORDINARY_POOLINGS = [name for name in POOLINGS if name not in PROBABILITY_POOLINGS]
QUICK_CASES = [
    *((name, "embedding", 2) for name in ORDINARY_POOLINGS),
    *((name, "instance", 3) for name in ORDINARY_POOLINGS),
    *((name, "instance", 2) for name in PROBABILITY_POOLINGS),
]
FULL_CASES = [
    *((name, "embedding", 3) for name in ORDINARY_POOLINGS),
    *((name, "instance", 2) for name in ORDINARY_POOLINGS),
]


def test_checks_are_those_of_scikit_learn():
    assert len(CHECKS) >= 55


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda value: name_check(value) if callable(value) else "")
def test_estimator_passes_check_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks cause warnings on purpose
        check(estimator)


@pytest.mark.parametrize(
    "pooling",
    [
        "gated attention",
        "mean",
        "noisy_or",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("attention", "max", "log-sum-exp", "ISR")),
    ],
)
def test_fit_learns_to_rank_new_bags_and_to_find_the_key_instances(pooling):
    from bagwise.evaluation.evaluation import evaluate

    train, test = load_dataset("needles", n_bags=150, shift=3.0), load_dataset("needles", n_bags=100, shift=3.0, seed=1)
    level = "instance" if pooling in ("noisy_or", "ISR") else "embedding"
    model = BagClassifier(pooling=pooling, level=level, epochs=12, batch_size=4, learning_rate=2e-3, random_state=0)
    evaluated = evaluate(model.fit(train, train.labels), test, test.labels)
    assert evaluated.metrics["bags"]["auc"]["value"] > 0.9
    if pooling not in (
        "mean",
        "max",
    ):  # mean has equal weights; max takes each feature from any instance
        assert evaluated.metrics["instances"]["weights"]["auc"] > 0.9
    assert evaluated.metrics["instances"]["scores"]["auc"] > 0.9


@pytest.mark.parametrize(
    ("pooling", "level", "n_classes"),
    [*QUICK_CASES, *(pytest.param(*case, marks=pytest.mark.full) for case in FULL_CASES)],
)
def test_predictions_are_consistent_for_every_pooling(pooling, level, n_classes):
    """Order of instances and bags does not matter, weights sum to one, and scores agree with probabilities."""
    model = BagClassifier(pooling=pooling, level=level, heads=2, **QUICK).fit(NEEDLES, np.arange(40) % n_classes)
    probabilities, weights = model.predict_with_weights(NEEDLES)
    bag_order = np.random.default_rng(0).permutation(40)
    shuffled = [NEEDLES[int(bag)][::-1] for bag in bag_order]
    np.testing.assert_allclose(model.predict_proba(shuffled), probabilities[bag_order], atol=1e-5)
    reversed_weights = np.concatenate([weights[NEEDLES.bag_indices == bag][::-1] for bag in bag_order])
    np.testing.assert_allclose(model.weigh(shuffled), reversed_weights, atol=1e-5)
    np.testing.assert_allclose(np.bincount(NEEDLES.bag_indices, weights), 1, atol=1e-5)
    assert (weights >= 0).all()
    scores = model.decision_function(NEEDLES)
    if n_classes == 2:
        np.testing.assert_allclose(1 / (1 + np.exp(-scores)), probabilities[:, 1], atol=1e-6)
    else:
        np.testing.assert_array_equal(scores.argmax(axis=1), probabilities.argmax(axis=1))


@pytest.mark.parametrize("pooling", PROBABILITY_POOLINGS)
def test_fit_rejects_a_probability_pooling_of_embeddings_or_of_three_classes(pooling):
    for level, n_classes in (("embedding", 2), ("embedding", 3), ("instance", 3)):
        with pytest.raises(InputError, match="combines probabilities"):
            BagClassifier(pooling=pooling, level=level, **QUICK).fit(NEEDLES, np.arange(40) % n_classes)


def test_score_instances_scores_each_instance_as_a_bag_of_its_own():
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    singletons = Bags(NEEDLES.instances, np.arange(NEEDLES.n_instances + 1))
    np.testing.assert_allclose(model.score_instances(NEEDLES), model.decision_function(singletons), atol=1e-6)
    assert (model.weigh(singletons) == 1.0).all()


def test_estimator_works_in_grid_search_cross_validation_pipeline_and_clone():
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


def test_pickled_estimator_has_bit_identical_predictions():
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_fit_trains_copies_of_custom_modules():
    torch.manual_seed(0)
    encoder, pooling = nn.Sequential(nn.Linear(16, 8), nn.ReLU()), Attention(8, 4)
    before = encoder[0].weight.detach().clone()
    model = BagClassifier(encoder=encoder, pooling=pooling, **QUICK).fit(NEEDLES, NEEDLES.labels)
    assert torch.equal(encoder[0].weight, before)
    trained = [member.encoder[1][0].weight for member in list_members(model.model_)]
    assert len(trained) == 5
    assert not any(torch.equal(weight, before) for weight in trained)
    assert model.pooling is pooling


def test_fit_accepts_images_channels_last():
    generator = np.random.default_rng(0)
    bags = [generator.integers(0, 255, size=(3, 27, 27, 3), dtype=np.uint8) for _ in range(6)]
    for encoder in ("auto", "nucleus cnn", "mlp"):
        model = BagClassifier(encoder=encoder, epochs=1, random_state=0).fit(bags, [0, 1] * 3)
        assert np.isfinite(model.predict_proba(bags)).all()
    with pytest.raises(InputError, match="channels first"):
        BagClassifier(epochs=1).fit([np.zeros((2, 3, 27, 27))] * 4, [0, 1] * 2)


def test_scaling_uses_the_training_bags_only():
    """Scaling all features does not change predictions, and validation bags are not used."""
    scaled = NEEDLES.map(lambda rows: rows * np.float32(1024))
    plain = BagClassifier(**QUICK, validation=None).fit(NEEDLES, NEEDLES.labels)
    of_scaled = BagClassifier(**QUICK, validation=None).fit(scaled, NEEDLES.labels)
    np.testing.assert_allclose(plain.predict_proba(NEEDLES), of_scaled.predict_proba(scaled), atol=1e-6)
    shifted = NEEDLES.map(lambda rows: rows + np.float32(1e6))
    validated = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels, validation=(shifted, NEEDLES.labels))
    assert torch.equal(validated.model_.encoder[0].center, plain.model_.encoder[0].center)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pooling": "atention"}, "did you mean 'attention'"),
        ({"encoder": "lenett"}, "did you mean 'lenet'"),
        ({"level": "bag"}, "level 'bag' is unknown"),
        ({"pooling": 3}, "pooling must be a name or a bagwise.nn.pooling.Pooling, got 3"),
        ({"context": "transformer"}, "context must be None or a bagwise.nn.Context, got 'transformer'"),
        ({"encoder": None}, "encoder must be a name or a torch.nn.Module, got None"),
        ({"augmentation": "histologie"}, "did you mean 'histology'"),
        ({"augmentation": 3}, "augmentation must be a name, a torch.nn.Module or None, got 3"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"attention_width": 0}, "attention_width is 0"),
        ({"patience": 3, "validation": None}, "patience needs one set of validation bags"),
        ({"averaging": 0.5, "validation": 0.2}, "averaging and validation cannot be combined"),
        ({"validation": 1.5}, "validation is 1.5"),
        ({"device": "gpu"}, "device 'gpu' is unknown"),
        ({"encoder": "lenet"}, "use encoder='mlp'"),
    ],
    ids=str,
)
def test_check_and_fit_reject_invalid_parameters_by_name(parameters, message):
    model = BagClassifier(**{**QUICK, **parameters})
    with pytest.raises(InputError, match=message):
        model.check(NEEDLES, NEEDLES.labels)
    with pytest.raises(InputError, match=message):
        model.fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize(("validation", "n_parts"), [(0.3, 1), (5, 5), ("auto", 5)])
def test_fit_keeps_groups_together(validation, n_parts, monkeypatch):
    plans = []

    def plan_and_keep(*arguments):
        plans.append(plan_training(*arguments))
        return plans[-1]

    monkeypatch.setattr(network, "plan_training", plan_and_keep)
    grouped = NEEDLES.replace(groups=np.repeat(np.arange(10), 4))
    BagClassifier(epochs=1, validation=validation, random_state=1).fit(grouped, NEEDLES.labels)
    (plan,) = plans
    assert len(plan.parts) == n_parts
    for part in plan.parts:
        assert not set(part.training.bags.groups) & set(part.held_out.bags.groups)
        assert len(part.training.bags) + len(part.held_out.bags) == 40


def test_fit_requires_random_state_for_a_checkpoint(tmp_path):
    with pytest.raises(InputError, match=r"a checkpoint needs random_state.*random_state=0"):
        BagClassifier(epochs=1).fit(NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "state")


@pytest.mark.parametrize("augmentation", ["histology", "affine"])
def test_augmentation_is_used_in_training_only_and_is_the_same_after_resuming(tmp_path, augmentation):
    generator = np.random.default_rng(0)
    bags = [generator.integers(0, 255, size=(3, 16, 16, 3), dtype=np.uint8) for _ in range(6)]
    labels = [0, 1] * 3

    def make_model(**changes):
        return BagClassifier(**{"augmentation": augmentation, "epochs": 2, "random_state": 0, **changes})

    whole = make_model().fit(bags, labels)
    plain = make_model(augmentation=None).fit(bags, labels)
    assert whole.history_[-1].loss != plain.history_[-1].loss
    np.testing.assert_array_equal(whole.predict_proba(bags), whole.predict_proba(bags))
    answers = iter([False, False, False, True])
    with pytest.raises(TrainingStopped):
        make_model().fit(bags, labels, checkpoint=tmp_path / "state", should_stop=lambda: next(answers))
    resumed = make_model().fit(bags, labels, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.predict_proba(bags), whole.predict_proba(bags))
    whole.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(bags), whole.predict_proba(bags))


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
        ({"scaling": "no"}, "scaling 'no' is unknown"),
        ({"level": 3}, "level is 3"),
        ({"optimizer": None}, "optimizer is None"),
        ({"class_weight": "foo"}, "class_weight"),
        ({"class_weight": 3}, "class_weight"),
    ],
    ids=str,
)
def test_fit_rejects_parameters_of_the_wrong_type_by_name(parameters, message):
    with unchecked(), pytest.raises(InputError, match=message):
        BagClassifier(**{"random_state": 0, "epochs": 1, **parameters}).fit(NEEDLES, NEEDLES.labels)


def test_fit_rejects_the_wrong_number_of_validation_labels():
    with pytest.raises(InputError, match="y has 3 labels for 4 bags"):
        BagClassifier(epochs=1).fit(NEEDLES[4:], NEEDLES.labels[4:], validation=(NEEDLES[:4], NEEDLES.labels[:3]))


def test_save_accepts_an_encoder_with_tied_weights(tmp_path):
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
    loaded = BagClassifier.load(tmp_path / "model", encoder=Tied())
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_load_restores_history_and_feature_names(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 2)), columns=["width", "height"])
    model = BagClassifier(epochs=2, random_state=0).fit(frame, [0, 1] * 4)
    model.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["width", "height"]
    assert loaded.history_ == model.history_


def make_with_context(context, **changes):
    return BagClassifier(**{"context": context, **QUICK, **changes})


@every_context
@pytest.mark.parametrize(("level", "pooling"), [("embedding", "gated attention"), ("instance", "max")])
def test_predictions_with_a_context_are_consistent(kind, level, pooling):
    model = make_with_context(kind(64), level=level, pooling=pooling).fit(NEEDLES, NEEDLES.labels)
    probabilities, weights = model.predict_with_weights(NEEDLES)
    assert model.engine_ == "torch"
    np.testing.assert_allclose(model.predict_proba([bag[::-1] for bag in NEEDLES]), probabilities, atol=1e-5)
    singles = np.concatenate([model.predict_proba([bag]) for bag in NEEDLES])
    np.testing.assert_allclose(singles, probabilities, atol=1e-5)
    np.testing.assert_allclose(np.bincount(NEEDLES.bag_indices, weights), 1, atol=1e-5)
    scores = np.concatenate([model.decision_function([row[None]]) for row in NEEDLES.instances[:5]])
    np.testing.assert_allclose(model.score_instances(NEEDLES)[:5], scores, atol=1e-5)


@every_context
def test_fit_trains_a_copy_of_the_context(kind):
    context = kind(64)
    before = {name: value.clone() for name, value in context.state_dict().items()}
    model = make_with_context(context).fit(NEEDLES, NEEDLES.labels)
    assert model.context is context
    assert all(torch.equal(context.state_dict()[name], value) for name, value in before.items())
    for member in list_members(model.model_):
        trained = member.context.state_dict()
        assert not any(torch.equal(trained[name], value) for name, value in before.items())


@every_context
@pytest.mark.parametrize("level", ["embedding", "instance"])
def test_load_restores_a_context_bit_identically_and_requires_it(tmp_path, kind, level):
    model = make_with_context(kind(64), level=level, pooling="mean").fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model", context=kind(64))
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))
    with pytest.raises(
        InputError, match=rf"a custom context, {kind.__name__}, .*; pass it again: load\(…, context=…\)"
    ):
        BagClassifier.load(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with this context"):
        BagClassifier.load(tmp_path / "model", context=kind(5))


@every_context
def test_fit_with_a_context_resumes_bit_identically_and_rejects_another_context(tmp_path, kind):
    context, other = kind(64), next(each for each in CONTEXTS if each is not kind)(64)
    whole = make_with_context(context).fit(NEEDLES, NEEDLES.labels)
    answers = iter([False] * 6 + [True])  # in the second epoch of five steps
    with pytest.raises(TrainingStopped):
        make_with_context(context).fit(
            NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "state", should_stop=lambda: next(answers)
        )
    for wrong in (other, None):
        with pytest.raises(InputError, match=r"belongs to another run: context was .* and is now"):
            make_with_context(wrong, engine="torch").fit(NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "state")
    resumed = make_with_context(context).fit(NEEDLES, NEEDLES.labels, checkpoint=tmp_path / "state")
    for name, value in whole.model_.state_dict().items():
        assert torch.equal(resumed.model_.state_dict()[name], value), name


def test_load_accepts_a_model_that_was_saved_before_contexts_existed(tmp_path):
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    model.save(tmp_path / "model")
    description = read_json(tmp_path / "model" / "model.json")
    assert description["parameters"].pop("context", "missing") is None
    write_json(tmp_path / "model" / "model.json", description)
    write_manifest(tmp_path / "model", "bagwise model")
    loaded = BagClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(NEEDLES), model.predict_proba(NEEDLES))


def test_held_out_outputs_are_those_of_the_network_trained_without_the_bag():
    model = BagClassifier(**QUICK, validation=4, calibration=False).fit(NEEDLES, NEEDLES.labels)
    rows, outputs = model.held_out_outputs_
    assert sorted(rows) == list(range(40))
    predicted = []
    for member in list_members(model.model_):
        model.model_ = member
        predicted.append(model.predict_proba(NEEDLES))
    closest = np.abs(np.array(predicted)[:, rows] - outputs).max(axis=2).argmin(axis=0)
    np.testing.assert_array_equal(closest, np.repeat(range(4), 10))
    np.testing.assert_allclose(np.array(predicted)[closest, rows], outputs, atol=1e-6)


def test_held_out_outputs_are_calibrated_on_the_other_folds():
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    rows, outputs = model.held_out_outputs_
    targets = model.target_.encode(NEEDLES.labels[rows], 40)
    loss = -np.log(outputs[np.arange(40), targets]).mean()
    assert loss == pytest.approx(model.held_out_loss_.method)
    assert BagClassifier(**QUICK, validation=None).fit(NEEDLES, NEEDLES.labels).held_out_outputs_ is None
    training, validation = NEEDLES[:30], NEEDLES[30:]
    given = BagClassifier(**QUICK).fit(training, training.labels, validation=(validation, validation.labels))
    assert given.held_out_outputs_ is None


def test_fit_warns_of_validation_bags_that_are_training_bags():
    with pytest.warns(UserWarning, match="5 of the 20 validation bags are training bags, or have the same instances"):
        BagClassifier(**QUICK).fit(NEEDLES[:25], NEEDLES[:25].labels, validation=(NEEDLES[20:], NEEDLES[20:].labels))


@pytest.mark.parametrize("validation", [0.2, 5, (NEEDLES,), NEEDLES, "auto"], ids=lambda value: type(value).__name__)
def test_fit_rejects_validation_bags_without_labels(validation):
    with pytest.raises(InputError, match=r"the argument validation of fit is .*; it must be \(bags, labels\)"):
        BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels, validation=validation)


def test_decision_function_has_the_ranking_of_the_probabilities():
    """Slopes may be so small that scores would tie in single precision."""
    model = BagClassifier(**QUICK).fit(NEEDLES, NEEDLES.labels)
    model.calibration_ = model.calibration_._replace(slope=1e-7, offset=np.array([3.0]))
    assert len(np.unique(model.decision_function(NEEDLES))) == len(NEEDLES)
