import numpy as np
import pytest
import safetensors
import torch
from torch import nn

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.nn.bag_model import arrange_embedding_level
from bagwise.nn.dropout import Dropout
from bagwise.nn.pooling.attention import Attention
from bagwise.parallel.ranks import RankLostError, Ranks
from bagwise.targets.class_likelihoods import Bernoulli
from bagwise.training.batches import TrainingTask
from bagwise.training.loop import Trainer, TrainingStopped, update_running_mean
from bagwise.training.progress import TrainingProgress
from bagwise.training.settings import TrainingSettings


class StopAfter:
    """A ``should_stop`` that returns True once, at the given call."""

    def __init__(self, calls):
        self.remaining = calls

    def __call__(self):
        self.remaining -= 1
        return self.remaining == 0


def weight_bytes(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


def make_task(bags, dtype=np.float32):
    return TrainingTask(bags, bags.labels.astype(np.int64), np.ones(len(bags), dtype=dtype))


def make_model(width, dtype=torch.float32):
    torch.manual_seed(3)
    encoder = nn.Sequential(nn.Linear(width, 8), nn.Tanh())
    return arrange_embedding_level(encoder, Attention(8, 4), nn.Linear(8, 1)).to(dtype)


def test_run_with_full_batches_is_gradient_descent_on_the_mean_loss():
    """Compare three epochs of SGD in float64 with a plain implementation that processes one bag at a time."""
    bags = load_dataset("needles", n_bags=6, n_features=5).map(lambda rows: rows.astype(np.float64))
    trained, plain = make_model(5, torch.float64), make_model(5, torch.float64)
    settings = TrainingSettings(epochs=3, batch_size=6, optimizer="sgd", learning_rate=0.1, weight_decay=0.01)
    task = make_task(bags, np.float64)
    history = Trainer(model=trained, likelihood=Bernoulli(), task=task, settings=settings).run()
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    for epoch in history:
        losses = []
        for bag, label in zip(bags, bags.labels, strict=True):
            score = plain(torch.tensor(bag), torch.tensor([0, len(bag)])).scores[0, 0]
            losses.append(-torch.log(torch.sigmoid(score if label else -score)))
        loss = torch.stack(losses).mean()
        assert epoch.loss == pytest.approx(loss.item(), abs=1e-12)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for found, expected in zip(trained.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_run_gives_the_same_bits_with_the_same_seed_only():
    bags = load_dataset("needles", n_bags=12)
    first, again, other = (BagClassifier(epochs=2, random_state=seed).fit(bags, bags.labels) for seed in (1, 1, 2))
    assert weight_bytes(first.model_) == weight_bytes(again.model_)
    assert weight_bytes(first.model_) != weight_bytes(other.model_)


def test_run_does_not_change_the_global_random_state():
    bags = load_dataset("needles", n_bags=8)
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    BagClassifier(epochs=1).fit(bags, bags.labels)
    assert torch.equal(torch.rand(3), expected[0])
    assert (np.random.rand(3) == expected[1]).all()


class EncoderWithTorchDropout(nn.Module):
    """A custom encoder that uses torch's generator."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.5))

    def forward(self, values):
        return self.layers(values)


RESUMED = {  # quick tests cover every stop, encoder and option; the full tests cover all combinations
    "mlp, validation": ("mlp", {"validation": 0.2}, [[3, 4, 11], [10]]),
    "custom, validation": ("custom", {"validation": 0.2}, [[7]]),
    "mlp, averaging": ("mlp", {"averaging": 0.7}, [[1], [20]]),
}
STOPS = [[1], [7], [3, 4, 11], [10], [20]]


@pytest.mark.parametrize(
    ("encoder", "options", "stops"),
    [
        pytest.param(encoder, options, stops, id=f"{name}, {stops}", marks=[] if stops in quick else pytest.mark.full)
        for name, (encoder, options, quick) in RESUMED.items()
        for stops in STOPS
    ],
)
def test_run_that_is_interrupted_and_resumed_ends_with_the_same_bits(tmp_path, encoder, options, stops):
    bags = load_dataset("needles", n_bags=25)
    torch.manual_seed(0)
    module = EncoderWithTorchDropout() if encoder == "custom" else encoder

    def make():
        return BagClassifier(epochs=4, batch_size=3, random_state=7, encoder=module, **options)

    def losses_and_errors(model):
        return [(epoch.loss, epoch.error, epoch.validation_loss, epoch.validation_error) for epoch in model.history_]

    whole = make().fit(bags, bags.labels)
    path = tmp_path / "state"
    for stop in stops:
        with pytest.raises(TrainingStopped):
            make().fit(bags, bags.labels, checkpoint=path, should_stop=StopAfter(stop))
    resumed = make().fit(bags, bags.labels, checkpoint=path)
    assert weight_bytes(resumed.model_) == weight_bytes(whole.model_)
    assert losses_and_errors(resumed) == losses_and_errors(whole)


def test_run_with_validation_ends_with_the_weights_of_the_best_epoch():
    bags = load_dataset("needles", n_bags=40)
    validation = load_dataset("needles", n_bags=20, seed=1)
    model = BagClassifier(epochs=25, learning_rate=0.02, random_state=1, dropout=0.0, patience=None, calibration=False)
    model.fit(bags, bags.labels, validation=(validation, validation.labels))
    criteria = [epoch.criterion for epoch in model.history_]
    probabilities = model.predict_proba(validation)
    error = (model.predict(validation) != validation.labels).mean()
    loss = -np.log(probabilities[np.arange(20), validation.labels]).mean()
    assert loss + error == pytest.approx(min(criteria), abs=1e-5)
    assert criteria[-1] > min(criteria), "the last epoch must not be the best, otherwise this tests nothing"


def test_run_with_patience_stops_early():
    bags = load_dataset("needles", n_bags=40)
    model = BagClassifier(epochs=200, learning_rate=0.02, patience=3, validation=0.25, engine="torch", random_state=1)
    model.fit(bags, bags.labels)
    criteria = [epoch.criterion for epoch in model.history_]
    assert len(criteria) == int(np.argmin(criteria)) + 1 + 3


class RecordingEncoder(nn.Module):
    """Records its mode and whether gradients are enabled in each call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)
        self.calls = []

    def forward(self, values):
        self.calls.append((self.training, torch.is_grad_enabled()))
        return self.layer(values)


def test_run_validates_in_evaluation_mode_without_gradients():
    bags = load_dataset("needles", n_bags=10)
    model = BagClassifier(encoder=RecordingEncoder(), epochs=1, batch_size=10, validation=0.2, random_state=0)
    model.fit(bags, bags.labels)
    training = (True, True)
    assert model.model_.encoder[1].calls.count(training) == 1
    after = model.model_.encoder[1].calls[model.model_.encoder[1].calls.index(training) + 1 :]
    assert after == [(False, False)] * 2  # the validation, and the scores for the calibration


def test_run_validates_with_the_class_weights_of_training():
    bags, validation = load_dataset("needles", n_bags=20), load_dataset("needles", n_bags=10, seed=1)
    factors = {0: 1.0, 1: 5.0}
    model = BagClassifier(epochs=1, class_weight=factors, calibration=False, random_state=0)
    model.fit(bags, bags.labels, validation=(validation, validation.labels))
    losses = -np.log(model.predict_proba(validation)[np.arange(10), validation.labels])
    expected = (losses * np.array([factors[label] for label in validation.labels])).mean()
    assert model.history_[0].validation_loss == pytest.approx(expected, rel=1e-5)


def test_run_with_averaging_averages_the_weights_of_the_last_epochs():
    bags = load_dataset("needles", n_bags=12)
    options = {"random_state": 1, "dropout": 0.5, "validation": None}
    fourth, fifth = (
        BagClassifier(epochs=epochs, **options).fit(bags, bags.labels).model_.state_dict() for epochs in (4, 5)
    )
    averaged = BagClassifier(epochs=5, averaging=0.4, **options).fit(bags, bags.labels).model_.state_dict()
    for name, value in averaged.items():
        torch.testing.assert_close(value, (fourth[name] + fifth[name]) / 2)


class MaskRecordingEncoder(nn.Module):
    """Records a dropout mask of every training step."""

    def __init__(self):
        super().__init__()
        self.dropout = Dropout(0.5)
        self.layer = nn.Linear(16, 4)
        self.masks = []

    def forward(self, values):
        if self.training:
            self.masks.append(self.dropout(torch.ones(1, 64)).numpy().tobytes())
        return self.layer(values)


def test_run_samples_a_new_dropout_mask_in_every_step_even_if_the_encoder_was_in_evaluation_mode():
    bags = load_dataset("needles", n_bags=6)
    model = BagClassifier(
        encoder=MaskRecordingEncoder().eval(), epochs=4, batch_size=2, validation=None, random_state=0
    )
    masks = model.fit(bags, bags.labels).model_.encoder[1].masks
    assert len(masks) == 4 * 3
    assert len(set(masks)) == len(masks)


def test_run_reports_every_batch_and_epoch_to_progress():
    class CountingProgress(TrainingProgress):
        batches, epochs = 0, 0

        def batch(self, done, batches):
            self.batches += 1

        def epoch(self, record):
            self.epochs += 1

    bags = load_dataset("needles", n_bags=10)
    progress = CountingProgress()
    BagClassifier(epochs=3, batch_size=4, random_state=0).fit(bags, bags.labels, progress=progress)
    assert (progress.batches, progress.epochs) == (30, 15)  # five networks of eight bags
    progress = CountingProgress()
    BagClassifier(epochs=3, batch_size=4, validation=None, random_state=0).fit(bags, bags.labels, progress=progress)
    assert (progress.batches, progress.epochs) == (9, 3)


def test_run_rejects_a_checkpoint_of_other_bags(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    other = load_dataset("needles", n_bags=10, seed=1)
    model = BagClassifier(epochs=2, random_state=0)
    with pytest.raises(TrainingStopped):
        model.fit(bags, bags.labels, checkpoint=tmp_path / "state", should_stop=StopAfter(2))
    with pytest.raises(InputError, match="training bags was"):
        model.fit(other, other.labels, checkpoint=tmp_path / "state")


def test_run_rejects_a_checkpoint_of_other_class_weights(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    with pytest.raises(TrainingStopped):
        BagClassifier(epochs=2, random_state=0).fit(
            bags, bags.labels, checkpoint=tmp_path / "state", should_stop=StopAfter(2)
        )
    with pytest.raises(InputError, match="class_weight was None and is now"):
        BagClassifier(epochs=2, random_state=0, class_weight={0: 1, 1: 2}).fit(
            bags, bags.labels, checkpoint=tmp_path / "state"
        )


def test_run_names_the_bag_whose_loss_is_not_finite():
    bags = load_dataset("needles", n_bags=10)
    rows = bags.instances.copy()
    rows[bags.offsets[4] : bags.offsets[5]] = 3e38
    model = BagClassifier(epochs=1, scaling="none", encoder="identity", pooling="sum", random_state=0)
    with pytest.raises(InputError, match=r"loss of bag 'bag-0004' is not finite in epoch 1"):
        model.fit(bags.replace(instances=rows), bags.labels)


@pytest.mark.parametrize("validation", [None, 0.25])
def test_run_stops_if_the_last_step_diverges(validation):
    bags = load_dataset("needles", n_bags=8)
    model = BagClassifier(
        epochs=1, batch_size=8, learning_rate=1e38, dropout=0.0, validation=validation, random_state=0
    )
    with pytest.raises(InputError, match="not finite in epoch 1"):
        model.fit(bags, bags.labels)


def test_run_that_diverges_or_stops_near_a_divergence_keeps_the_last_good_checkpoint(tmp_path):
    """Weight decay makes the weights overflow within the fourth epoch, one step before the loss does."""
    bags, messages = load_dataset("needles", n_bags=24), []
    options = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0, "weight_decay": 4.0, "dropout": 0.0}
    for step in range(76, 88):
        model = BagClassifier(encoder="identity", pooling="mean", validation=None, random_state=0, **options)
        with pytest.raises((TrainingStopped, InputError)) as end:
            model.fit(bags, bags.labels, checkpoint=tmp_path / str(step), should_stop=StopAfter(step))
        messages.append(str(end.value))
        with safetensors.safe_open(tmp_path / str(step), framework="np") as file:
            assert all(np.isfinite(file.get_tensor(name)).all() for name in file.keys())  # noqa: SIM118 (not a dict)
    assert any("weights of the model are not finite in epoch 4" in message for message in messages)
    assert any("loss of bag" in message for message in messages)
    assert "" in messages  # stopped before the divergence


class LostRanks(Ranks):
    """A process that loses the other processes when they decide together whether to stop."""

    def any_process(self, flag):
        raise RankLostError


def test_run_reports_a_process_that_is_lost_outside_the_engine():
    bags = load_dataset("needles", n_bags=8)
    trainer = Trainer(
        model=make_model(bags.instances.shape[1]),
        likelihood=Bernoulli(),
        task=make_task(bags),
        settings=TrainingSettings(epochs=1),
        ranks=LostRanks(),
    )
    with pytest.raises(RankLostError, match="another process of this run"):
        trainer.run()


def test_update_running_mean_is_the_mean_of_all_sets_and_the_latest_counter():
    torch.manual_seed(0)
    sets = [{"w": torch.randn(3, 2, dtype=torch.float64), "steps": torch.tensor(number)} for number in range(7)]
    mean = {}
    for count, values in enumerate(sets, start=1):
        mean = update_running_mean(mean, values, count)
    torch.testing.assert_close(mean["w"], torch.stack([values["w"] for values in sets]).mean(dim=0))
    assert mean["steps"] == 6


def test_update_running_mean_neither_changes_nor_shares_its_arguments():
    values = {"w": torch.ones(2)}
    mean = update_running_mean({}, values, 1)
    values["w"] += 1
    assert mean["w"].tolist() == [1.0, 1.0]
    update_running_mean(mean, values, 2)
    assert mean["w"].tolist() == [1.0, 1.0]
