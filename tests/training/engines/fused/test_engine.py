"""Comparison of the fused engine with autograd: equality in float64, and a bound of the error in float32."""

import copy
import dataclasses
import threading

import numpy as np
import pytest
import torch
from sklearn.base import clone

pytest.importorskip("numba")

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.augmentation import Augmentation
from bagwise.nn.dropout import Dropout
from bagwise.nn.encoders import mlp
from bagwise.training.engines.base import DivergedError
from bagwise.training.engines.fused import engine
from bagwise.training.engines.fused.engine import FusedEngine, get_optimizer_settings
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.loop import TrainingStopped
from bagwise.training.settings import TrainingSettings
from fused_problems import (
    BATCH,
    CLASSES,
    CNNS,
    LEVELS,
    N_BAGS,
    OPTIMIZERS,
    POOLINGS,
    STEP,
    get_batch_tensors,
    get_weights,
    make_batches,
    problem,
    run_module,
)

LONG = pytest.mark.full  # convolutions in float32 are slow to compile
LEARNING_RATES = {"sgd": 0.01, "nesterov": 0.005, "adam": 0.01}
PLAIN_SGD = {"optimizer": "sgd", "momentum": 0.0, "weight_decay": 0.0}


def compute_losses(trainer, batches, learning_rate):
    """Return the losses of single calls, one per batch."""
    return np.array([trainer.run([batch], step, learning_rate).loss for step, batch in enumerate(batches)])


def compute_gradient(engine_class, given, batch):
    """Return the weights minus the weights after one step of plain gradient descent."""
    before = get_weights(given)
    engine_class(given).run([batch], 5, 1.0)
    return before - get_weights(given)


def check_gradient(batch, **options):
    fused, expected = (
        compute_gradient(engine_class, problem(**options, **PLAIN_SGD), batch)
        for engine_class in (FusedEngine, TorchEngine)
    )
    assert (fused - expected).abs().max() <= 1e-8 * expected.abs().max()
    assert expected.count_nonzero() > 20


def check_trajectory(optimizer, size=1, n_steps=320, min_change=0.05, **options):
    """Compare losses and weights of both engines over many steps."""
    by_fused, by_torch = (problem(optimizer=optimizer, **options) for _ in range(2))
    batches, start = make_batches(n_steps, size), get_weights(by_torch)
    losses = compute_losses(FusedEngine(by_fused), batches, LEARNING_RATES[optimizer])
    expected = compute_losses(TorchEngine(by_torch), batches, LEARNING_RATES[optimizer])
    np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(get_weights(by_fused), get_weights(by_torch), rtol=1e-8, atol=1e-10)
    change = (get_weights(by_torch) - start).norm()
    assert change > min_change * start.norm(), "the weights must have changed a lot"


def test_run_returns_the_loss_and_errors_of_the_likelihood():
    sums = FusedEngine(problem(n_classes=3)).run([BATCH], STEP, 0.01)
    given = problem(n_classes=3)
    scores = run_module(given, given.model, *get_batch_tensors(given)).scores
    targets = torch.from_numpy(given.task.targets[BATCH])
    expected = (given.likelihood.loss(scores, targets).numpy() * given.task.importance[BATCH]).sum()
    assert sums.loss == pytest.approx(expected, rel=1e-12)
    assert sums.errors == given.likelihood.errors(scores, targets).sum().item()


def test_run_with_a_learning_rate_of_zero_changes_no_weights():
    given = problem()
    before = get_weights(given)
    FusedEngine(given).run([BATCH], STEP, 0.0)
    assert torch.equal(get_weights(given), before)


def test_run_does_not_depend_on_the_order_within_a_batch_without_dropout():
    weights = []
    for batch in (BATCH, BATCH[::-1].copy()):
        given = problem(dropout=0.0)
        FusedEngine(given).run([batch], 0, 0.01)
        weights.append(get_weights(given))
    torch.testing.assert_close(*weights, rtol=1e-10, atol=1e-12)
    assert not np.array_equal(BATCH, BATCH[::-1])


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_run_performs_one_step_along_the_gradient_of_autograd(pooling, level, n_classes):
    for size in (4, 9):
        batch = make_batches(1, size, seed=size)[0]
        check_gradient(batch, pooling=pooling, level=level, n_classes=n_classes)


@pytest.mark.parametrize("size", [3, 8])
@pytest.mark.parametrize("encoder", CNNS)
def test_run_performs_one_step_along_the_gradient_of_autograd_with_convolutions(encoder, size):
    check_gradient(make_batches(1, size, seed=size)[0], encoder=encoder)


@pytest.mark.parametrize(
    ("pooling", "level", "n_classes", "optimizer"),
    [
        ("mean", "instance", 3, "sgd"),
        ("max", "embedding", 2, "nesterov"),
        ("attention", "instance", 2, "adam"),
        ("gated attention", "embedding", 3, "adam"),
    ],
)
def test_run_matches_torch_for_hundreds_of_steps_with_dropout(pooling, level, n_classes, optimizer):
    check_trajectory(optimizer, pooling=pooling, level=level, n_classes=n_classes)


@pytest.mark.full
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_run_matches_torch_for_hundreds_of_steps_in_every_combination(pooling, level, n_classes, optimizer, size):
    check_trajectory(optimizer, size=size, pooling=pooling, level=level, n_classes=n_classes)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_run_matches_torch_with_every_optimizer_and_several_bags_per_batch(optimizer):
    check_trajectory(optimizer, size=4, n_steps=60, min_change=0.02, pooling="gated attention", n_classes=3)


CONNECTED = [("deep supervision", "max", 2), ("deep supervision", "attention", 3), ("residual", "mean", 2)]
ALL_CONNECTED = [(*case[:2], n_classes) for case in CONNECTED for n_classes in CLASSES]


def check_connections(connections, pooling, n_classes):
    check_trajectory(
        "sgd", size=2, n_steps=40, connections=connections, pooling=pooling, encoder="mlp", n_classes=n_classes
    )


@pytest.mark.parametrize(("connections", "pooling", "n_classes"), CONNECTED)
def test_run_matches_torch_with_connections(connections, pooling, n_classes):
    check_connections(connections, pooling, n_classes)


@pytest.mark.full
@pytest.mark.parametrize(("connections", "pooling", "n_classes"), [x for x in ALL_CONNECTED if x not in CONNECTED])
def test_run_matches_torch_with_connections_and_other_numbers_of_classes(connections, pooling, n_classes):
    check_connections(connections, pooling, n_classes)


NO_LAYERS = [("attention", "embedding", 0.0), ("max", "embedding", 0.3), ("mean", "instance", 0.3)]


@pytest.mark.parametrize(("pooling", "level", "dropout"), NO_LAYERS)
def test_run_matches_torch_with_an_encoder_without_layers(pooling, level, dropout):
    check_trajectory("adam", n_steps=100, encoder="identity", pooling=pooling, level=level, dropout=dropout)


@pytest.mark.full
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize(("pooling", "level"), [case[:2] for case in NO_LAYERS])
def test_run_matches_torch_with_an_encoder_without_layers_for_hundreds_of_steps(pooling, level, dropout):
    check_trajectory("adam", encoder="identity", pooling=pooling, level=level, dropout=dropout)


def make_shallow_encoder():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(5, 9), torch.nn.ReLU())


def make_deep_encoder():
    return mlp((5,), (14, 15, 16, 17, 18), dropout=0.25)


@pytest.mark.parametrize("make_encoder", [make_shallow_encoder, make_deep_encoder])
def test_run_matches_torch_with_other_depths_and_layers_without_dropout(make_encoder):
    by_fused, by_torch = (problem(encoder=make_encoder(), optimizer="sgd") for _ in range(2))
    by_torch.model.load_state_dict(by_fused.model.state_dict())
    batches = make_batches(40, 2)
    losses = compute_losses(FusedEngine(by_fused), batches, 0.05)
    np.testing.assert_allclose(losses, compute_losses(TorchEngine(by_torch), batches, 0.05), rtol=1e-9)


@pytest.mark.parametrize(
    ("encoder", "pooling", "level", "optimizer"),
    [
        ("one stage", "max", "instance", "sgd"),
        ("two stages", "gated attention", "embedding", "nesterov"),
        ("many maps", "mean", "embedding", "adam"),
    ],
)
def test_run_matches_torch_with_convolutions(encoder, pooling, level, optimizer):
    check_trajectory(optimizer, size=2, n_steps=60, encoder=encoder, pooling=pooling, level=level)


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("pooling", "optimizer"), list(zip(POOLINGS, ["sgd", "nesterov", "adam", "adam"], strict=True))
)
@pytest.mark.parametrize("encoder", CNNS)
def test_run_matches_torch_with_convolutions_in_every_combination(encoder, pooling, optimizer, level):
    check_trajectory(optimizer, size=2, n_steps=60, encoder=encoder, pooling=pooling, level=level)


def check_float32_error(encoder, pooling, n_seeds):
    """Compare the median errors over seeds.

    Single runs of either engine may diverge from the exact run, because rounding sometimes decides which of two nearly
    equal values is the maximum.
    """
    errors = {FusedEngine: [], TorchEngine: []}
    for seed in range(n_seeds):
        exact = problem(encoder=encoder, pooling=pooling, seed=seed)
        compute_losses(TorchEngine(exact), make_batches(100), 0.01)
        for engine_class in errors:
            single = problem(encoder=encoder, pooling=pooling, seed=seed, dtype=torch.float32)
            compute_losses(engine_class(single), make_batches(100), 0.01)
            errors[engine_class].append((get_weights(single) - get_weights(exact)).norm().item())
    assert 0 < np.median(errors[FusedEngine]) <= 3 * np.median(errors[TorchEngine])


@pytest.mark.parametrize(("encoder", "pooling", "n_seeds"), [("small", "gated attention", 5)])
def test_run_in_float32_has_at_most_three_times_the_error_of_torch(encoder, pooling, n_seeds):
    check_float32_error(encoder, pooling, n_seeds)


@pytest.mark.full
@pytest.mark.parametrize(
    ("encoder", "pooling", "n_seeds"),
    [*(("small", pooling, 5) for pooling in POOLINGS), *((name, "attention", 11) for name in CNNS)],
)
def test_run_in_float32_has_at_most_three_times_the_error_of_torch_in_every_case(encoder, pooling, n_seeds):
    check_float32_error(encoder, pooling, n_seeds)


@pytest.mark.parametrize(
    ("encoder", "dtype"),
    [("small", torch.float32), ("many maps", torch.float64), pytest.param("many maps", torch.float32, marks=LONG)],
    ids=str,
)
def test_run_with_many_batches_is_bit_identical_to_single_calls_and_to_two_engines(encoder, dtype):
    one_call, single_calls, two_engines = (problem(encoder=encoder, dtype=dtype) for _ in range(3))
    batches = make_batches(30, 3)
    FusedEngine(two_engines).run(batches[:13], 0, 0.01)
    FusedEngine(two_engines).run(batches[13:], 13, 0.01)
    sums = FusedEngine(one_call).run(batches, 0, 0.01)
    losses = compute_losses(FusedEngine(single_calls), batches, 0.01)
    assert torch.equal(get_weights(one_call), get_weights(single_calls))
    assert torch.equal(get_weights(one_call), get_weights(two_engines))
    assert sums.loss == pytest.approx(losses.sum())


@pytest.mark.parametrize(
    ("optimizer", "encoder"), [("sgd", "small"), ("nesterov", "two stages"), ("adam", "small"), ("adam", "two stages")]
)
def test_run_continues_where_another_engine_stopped(optimizer, encoder):
    """Weights and moments are exchanged through the module and the optimizer of torch, in both directions."""
    batches, weights = make_batches(20), {}
    for first in (FusedEngine, TorchEngine):
        for second in (FusedEngine, TorchEngine):
            given = problem(optimizer=optimizer, encoder=encoder)
            first(given).run(batches[:10], 0, 0.01)
            second(given).run(batches[10:], 10, 0.01)
            weights[first, second] = get_weights(given)
    for each in weights.values():
        torch.testing.assert_close(each, weights[TorchEngine, TorchEngine], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("encoder", "dtype"),
    [("small", torch.float32), ("two stages", torch.float64), pytest.param("two stages", torch.float32, marks=LONG)],
    ids=str,
)
def test_run_is_bit_identical_in_two_threads_and_sequentially(encoder, dtype):
    def train(given):
        FusedEngine(given).run(make_batches(300, 2), 0, 0.01)

    sequential, threaded = ([problem(encoder=encoder, dtype=dtype, seed=seed) for seed in (1, 2)] for _ in range(2))
    for given in sequential:
        train(given)
    threads = [threading.Thread(target=train, args=(given,)) for given in threaded]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for first, second in zip(sequential, threaded, strict=True):
        assert torch.equal(get_weights(first), get_weights(second))


def test_run_raises_diverged_error_with_the_batch_and_the_bag():
    given = problem(dtype=torch.float32)
    rows = given.task.bags.instances.copy()
    rows[given.task.bags.offsets[4]] = np.nan
    bags = Bags.trusted(instances=rows, offsets=given.task.bags.offsets)
    given = dataclasses.replace(given, task=given.task._replace(bags=bags))
    with pytest.raises(DivergedError) as caught:
        FusedEngine(given).run([np.array([0]), np.array([3, 4])], 0, 0.01)
    assert (caught.value.batch, caught.value.bag) == (1, 4)


def test_run_uses_different_dropout_masks_in_different_steps():
    """Two steps from the same weights differ because the step is part of the counter."""
    weights = []
    for step in (0, 1):
        given = problem(dtype=torch.float32)
        FusedEngine(given).run([np.arange(N_BAGS)], step, 0.01)
        weights.append(get_weights(given))
    assert not torch.equal(*weights)
    assert sum(isinstance(part, Dropout) for part in given.model.modules()) == 3


class Noise(Augmentation):
    """Augmentation that adds one random number to each image."""

    def forward(self, instances):
        noise = torch.from_numpy(self.sample_uniform(len(instances), 1))
        return instances + noise.view(-1, *[1] * (instances.ndim - 1))


@pytest.mark.parametrize("encoder", ["small", "two stages"])
@pytest.mark.parametrize("options", [{"most_instances": 2}, {"augmentation": Noise()}], ids=["sampled", "augmented"])
def test_run_samples_and_augments_instances_as_the_torch_engine_does(encoder, options):
    plain, by_fused, by_torch = (problem(encoder=encoder, **copy.deepcopy(each)) for each in ({}, options, options))
    batches = make_batches(40, 2)
    losses, expected = (
        compute_losses(engine_class(given), batches, 0.01)
        for engine_class, given in ((FusedEngine, by_fused), (TorchEngine, by_torch))
    )
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9)
    assert np.abs(losses - compute_losses(FusedEngine(plain), batches, 0.01)).max() > 1e-3


def test_get_optimizer_settings_uses_the_given_learning_rate():
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = TrainingSettings(optimizer="adam", learning_rate=1.0).build_optimizer([parameter])
    assert get_optimizer_settings(optimizer, 0.25).learning_rate == 0.25


def make_picture_bags():
    generator = np.random.default_rng(0)
    pictures = [generator.integers(0, 256, (5, 16, 16)).astype(np.uint8) for _ in range(25)]
    return Bags.from_list(pictures, [0, 1] * 12 + [1])


@pytest.mark.parametrize("stops", [[1], [2, 3], [4]])
@pytest.mark.parametrize("data", ["needles", pytest.param("pictures", marks=LONG)])
def test_fit_with_fused_engine_is_bit_identical_after_a_resume(tmp_path, monkeypatch, data, stops):
    monkeypatch.setattr(engine, "ROWS_PER_CALL", 40)  # a few bags per call
    bags = load_dataset("needles", n_bags=25) if data == "needles" else make_picture_bags()

    def fit(**options):
        model = BagClassifier(epochs=3, batch_size=2, validation=0.2, random_state=7, engine="fused")
        return model.fit(bags, bags.labels, **options)

    whole = fit()
    for stop in stops:
        answers = iter([False] * (stop - 1) + [True])
        with pytest.raises(TrainingStopped):
            fit(checkpoint=tmp_path / "state", should_stop=lambda answers=answers: next(answers))
    resumed = fit(checkpoint=tmp_path / "state")
    for name, value in whole.model_.state_dict().items():
        assert torch.equal(value, resumed.model_.state_dict()[name])
    assert [epoch.criterion for epoch in resumed.history_] == [epoch.criterion for epoch in whole.history_]


def test_fit_records_the_engine_in_model_files_and_checkpoints(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    model = BagClassifier(epochs=2, random_state=0, engine="fused")
    with pytest.raises(TrainingStopped):
        model.fit(bags, bags.labels, checkpoint=tmp_path / "state", should_stop=lambda: True)
    with pytest.raises(InputError, match="engine was 'fused' and is now 'torch'"):
        clone(model).set_params(engine="torch").fit(bags, bags.labels, checkpoint=tmp_path / "state")
    model.fit(bags, bags.labels, checkpoint=tmp_path / "state").save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    assert (loaded.engine, loaded.engine_) == ("fused", "fused")
    np.testing.assert_array_equal(loaded.predict_proba(bags), model.predict_proba(bags))
