"""The fused engine is the same mathematics as torch's autograd: shown in float64, and bounded in float32."""

import copy
import threading

import numpy as np
import pytest
import torch
from sklearn.base import clone

from bagwise.augmentation import Augmentation
from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.dropout import Dropout
from bagwise.encoders import mlp
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.training import TrainingStopped
from bagwise.training.engines import Diverged, TorchEngine
from fused_problems import CLASSES, CNNS, LEVELS, N_BAGS, OPTIMIZERS, POOLINGS, batches, problem, weights

pytest.importorskip("numba")
from bagwise.training.fused import engine
from bagwise.training.fused.engine import FusedEngine

CONNECTED = [("deep supervision", "max"), ("deep supervision", "attention"), ("residual", "mean")]
ROTATED = list(zip(POOLINGS, ["sgd", "nesterov", "adam", "adam"], strict=True))
RATE = {"sgd": 0.01, "nesterov": 0.005, "adam": 0.01}


def losses(trainer, chosen, rate):
    return np.array([trainer.run([batch], step, rate).loss for step, batch in enumerate(chosen)])


def compare_trajectories(optimizer, size=1, n_steps=320, **options):
    one, other = problem(optimizer=optimizer, **options), problem(optimizer=optimizer, **options)
    chosen, start = batches(n_steps, size), weights(other)
    found = losses(FusedEngine(one), chosen, RATE[optimizer])
    expected = losses(TorchEngine(other), chosen, RATE[optimizer])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(weights(one), weights(other), rtol=1e-8, atol=1e-10)
    assert (weights(other) - start).norm() > 0.05 * start.norm(), "the weights must have moved far"


def gradients(kind, given, batch):
    """What one step of plain gradient descent subtracts."""
    before = weights(given)
    kind(given).run([batch], 5, 1.0)
    return before - weights(given)


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_gradient_of_one_step_is_autograds(pooling, level, n_classes):
    options = {"pooling": pooling, "level": level, "n_classes": n_classes}
    plain = {"optimizer": "sgd", "momentum": 0.0, "weight_decay": 0.0}
    for size in (4, 9):
        batch = batches(1, size, seed=size)[0]
        found, expected = (gradients(kind, problem(**options, **plain), batch) for kind in (FusedEngine, TorchEngine))
        assert (found - expected).abs().max() <= 1e-8 * expected.abs().max()
        assert expected.count_nonzero() > 20


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("pooling", "optimizer"), ROTATED)
def test_hundreds_of_steps_with_dropout_follow_torch(pooling, level, n_classes, optimizer):
    compare_trajectories(optimizer, pooling=pooling, level=level, n_classes=n_classes)


@pytest.mark.full
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_hundreds_of_steps_follow_torch_in_every_combination(pooling, level, n_classes, optimizer):
    compare_trajectories(optimizer, size=3, pooling=pooling, level=level, n_classes=n_classes)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_follows_torch_on_batches_of_several_bags(optimizer):
    compare_trajectories(optimizer, size=4, pooling="gated attention", n_classes=3)


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize(("connections", "pooling"), CONNECTED)
def test_connections_follow_torch(connections, pooling, n_classes):
    compare_trajectories(
        "sgd", size=2, n_steps=40, connections=connections, pooling=pooling, encoder="mlp", n_classes=n_classes
    )


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize(("pooling", "level"), [("attention", "embedding"), ("max", "embedding"), ("mean", "instance")])
def test_an_encoder_without_layers_follows_torch(pooling, level, dropout):
    compare_trajectories("adam", encoder="identity", pooling=pooling, level=level, dropout=dropout)


def shallow():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(5, 9), torch.nn.ReLU())


def deep():
    return mlp((5,), (14, 15, 16, 17, 18), dropout=0.25)


@pytest.mark.parametrize("build", [shallow, deep])
def test_other_depths_and_layers_without_dropout_follow_torch(build):
    one, other = (problem(encoder=build(), optimizer="sgd") for _ in range(2))
    other.model.load_state_dict(one.model.state_dict())
    found = losses(FusedEngine(one), batches(40, 2), 0.05)
    np.testing.assert_allclose(found, losses(TorchEngine(other), batches(40, 2), 0.05), rtol=1e-9)


@pytest.mark.parametrize("size", [3, 8])
@pytest.mark.parametrize("encoder", CNNS)
def test_the_gradient_of_convolutions_is_autograds(encoder, size):
    plain = {"optimizer": "sgd", "momentum": 0.0, "weight_decay": 0.0, "encoder": encoder}
    batch = batches(1, size, seed=size)[0]
    found, expected = (gradients(kind, problem(**plain), batch) for kind in (FusedEngine, TorchEngine))
    assert (found - expected).abs().max() <= 1e-8 * expected.abs().max()
    assert expected.count_nonzero() > 20


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("pooling", "optimizer"), ROTATED)
@pytest.mark.parametrize("encoder", CNNS)
def test_convolutions_follow_torch(encoder, pooling, optimizer, level):
    compare_trajectories(optimizer, size=2, n_steps=60, encoder=encoder, pooling=pooling, level=level)


@pytest.mark.parametrize(
    ("encoder", "pooling"), [*(("small", pooling) for pooling in POOLINGS), *((name, "attention") for name in CNNS)]
)
def test_float32_strays_from_float64_no_more_than_three_times_what_torchs_does(encoder, pooling):
    """Medians over seeds: where two values are nearly equal, rounding now and then decides which of them is the higher,
    in either engine, and from there on a run goes another way."""
    strayed: dict[type, list[float]] = {FusedEngine: [], TorchEngine: []}
    for seed in range(11 if encoder in CNNS else 5):
        exact = problem(encoder=encoder, pooling=pooling, seed=seed)
        losses(TorchEngine(exact), batches(100), 0.01)
        for kind in strayed:
            single = problem(encoder=encoder, pooling=pooling, seed=seed, dtype=torch.float32)
            losses(kind(single), batches(100), 0.01)
            strayed[kind].append((weights(single) - weights(exact)).norm().item())
    assert 0 < np.median(strayed[FusedEngine]) <= 3 * np.median(strayed[TorchEngine])


@pytest.mark.parametrize("encoder", ["small", "many maps"])
def test_many_batches_in_one_call_are_the_same_bits_as_one_by_one_or_by_two_engines(encoder):
    one, other, third = (problem(encoder=encoder, dtype=torch.float32) for _ in range(3))
    chosen = batches(30, 3)
    FusedEngine(third).run(chosen[:13], 0, 0.01)
    FusedEngine(third).run(chosen[13:], 13, 0.01)
    together = FusedEngine(one).run(chosen, 0, 0.01)
    apart = losses(FusedEngine(other), chosen, 0.01)
    assert torch.equal(weights(one), weights(other))
    assert torch.equal(weights(one), weights(third))
    assert together.loss == pytest.approx(apart.sum())


@pytest.mark.parametrize("encoder", ["small", "two stages"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_engine_goes_on_where_another_left_off(optimizer, encoder):
    """Weights and moments pass through torch's own objects, from either engine to either."""
    chosen, ends = batches(20), {}
    for first in (FusedEngine, TorchEngine):
        for second in (FusedEngine, TorchEngine):
            given = problem(optimizer=optimizer, encoder=encoder)
            first(given).run(chosen[:10], 0, 0.01)
            second(given).run(chosen[10:], 10, 0.01)
            ends[first, second] = weights(given)
    for end in ends.values():
        torch.testing.assert_close(end, ends[TorchEngine, TorchEngine], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("encoder", ["small", "two stages"])
def test_two_trainings_in_two_threads_are_the_same_bits_as_one_after_the_other(encoder):
    def train(given):
        FusedEngine(given).run(batches(300, 2), 0, 0.01)

    apart, together = ([problem(encoder=encoder, dtype=torch.float32, seed=seed) for seed in (1, 2)] for _ in range(2))
    for given in apart:
        train(given)
    threads = [threading.Thread(target=train, args=(given,)) for given in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(apart, together, strict=True):
        assert torch.equal(weights(one), weights(other))


def test_a_bag_whose_loss_is_not_finite_is_named():
    given = problem(dtype=torch.float32)
    rows = given.task.bags.instances.copy()
    rows[given.task.bags.offsets[4]] = np.nan
    spoiled = Bags.trusted(instances=rows, offsets=given.task.bags.offsets)
    spoiled = given._replace(task=given.task._replace(bags=spoiled))
    with pytest.raises(Diverged) as caught:
        FusedEngine(spoiled).run([np.array([0]), np.array([3, 4])], 0, 0.01)
    assert (caught.value.batch, caught.value.bag) == (1, 4)


def pictures():
    draws = np.random.default_rng(0)
    return Bags.from_list([draws.integers(0, 256, (5, 16, 16)).astype(np.uint8) for _ in range(25)], [0, 1] * 12 + [1])


@pytest.mark.parametrize("stops", [[1], [2, 3], [4]])
@pytest.mark.parametrize("data", ["needles", "pictures"])
def test_a_run_cut_anywhere_and_resumed_ends_with_the_same_bits(tmp_path, monkeypatch, data, stops):
    monkeypatch.setattr(engine, "ROWS_A_CALL", 40)  # a few bags a call
    bags = load_dataset("needles", n_bags=25) if data == "needles" else pictures()

    def fit(**options):
        model = BagClassifier(epochs=3, batch_size=2, validation=0.2, random_state=7, engine="fused")
        return model.fit(bags, bags.labels, **options)

    whole = fit()
    for stop in stops:
        left = iter([False] * (stop - 1) + [True])
        with pytest.raises(TrainingStopped):
            fit(checkpoint=tmp_path / "state", should_stop=lambda left=left: next(left))
    resumed = fit(checkpoint=tmp_path / "state")
    for name, value in whole.model_.state_dict().items():
        assert torch.equal(value, resumed.model_.state_dict()[name])
    assert [epoch.criterion for epoch in resumed.history_] == [epoch.criterion for epoch in whole.history_]


def test_an_estimator_names_its_engine_in_its_files_and_its_checkpoints(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    model = BagClassifier(epochs=2, random_state=0, engine="fused")
    stopping = iter([True])
    with pytest.raises(TrainingStopped):
        model.fit(bags, bags.labels, checkpoint=tmp_path / "state", should_stop=lambda: next(stopping))
    with pytest.raises(InputError, match="engine was 'fused' and is now 'torch'"):
        clone(model).set_params(engine="torch").fit(bags, bags.labels, checkpoint=tmp_path / "state")
    model.fit(bags, bags.labels, checkpoint=tmp_path / "state").save(tmp_path / "model")
    loaded = BagClassifier.load(tmp_path / "model")
    assert (loaded.engine, loaded.engine_) == ("fused", "fused")
    np.testing.assert_array_equal(loaded.predict_proba(bags), model.predict_proba(bags))


def test_every_draw_of_dropout_differs_between_steps_and_layers():
    """Were the step or the layer left out of the counter, two steps from the same weights would be one."""
    ends = []
    for step in (0, 1):
        given = problem(dtype=torch.float32)
        FusedEngine(given).run([np.arange(N_BAGS)], step, 0.01)
        ends.append(weights(given))
    assert not torch.equal(*ends)
    assert sum(isinstance(part, Dropout) for part in given.model.modules()) == 3


class Noise(Augmentation):
    """Adds to every number of an image, another number to each image."""

    def forward(self, instances):
        added = torch.from_numpy(self.draw(len(instances), 1))
        return instances + added.view(-1, *[1] * (instances.ndim - 1))


@pytest.mark.parametrize("encoder", ["small", "two stages"])
@pytest.mark.parametrize("words", [{"most_instances": 2}, {"augmentation": Noise()}], ids=["sampled", "augmented"])
def test_what_a_step_draws_of_its_instances_is_what_torchs_engine_draws(encoder, words):
    plain, one, other = (problem(encoder=encoder, **each) for each in ({}, copy.deepcopy(words), copy.deepcopy(words)))
    by_fused, by_torch = (
        losses(kind(given), batches(40, 2), 0.01) for kind, given in ((FusedEngine, one), (TorchEngine, other))
    )
    np.testing.assert_allclose(by_fused, by_torch, rtol=0, atol=1e-9)
    assert np.abs(by_fused - losses(FusedEngine(plain), batches(40, 2), 0.01)).max() > 1e-3
