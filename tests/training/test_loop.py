import numpy as np
import pytest
import safetensors
import torch
from torch import nn

from bagwise.datasets import load_dataset
from bagwise.dropout import Dropout
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.likelihoods import Bernoulli
from bagwise.models import embedding_level
from bagwise.pooling import Attention
from bagwise.training import Task, Trainer, TrainingSettings, TrainingStopped
from bagwise.training.progress import Progress
from bagwise.training.ranks import Lost, Ranks


class Stopping:
    """Says stop once, after so many steps."""

    def __init__(self, after):
        self.left = after

    def __call__(self):
        self.left -= 1
        return self.left == 0


def weights(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


def task(bags):
    return Task(bags, bags.labels.astype(np.int64), np.ones(len(bags), dtype=np.float32))


def network(width, dtype=torch.float32):
    torch.manual_seed(3)
    return embedding_level(nn.Sequential(nn.Linear(width, 8), nn.Tanh()), Attention(8, 4), nn.Linear(8, 1)).to(dtype)


def test_full_batches_are_gradient_descent_on_the_mean_loss():
    """Three epochs of SGD in float64 against a plain transcription with one bag at a time."""
    bags = load_dataset("needles", n_bags=6, n_features=5).map(lambda rows: rows.astype(np.float64))
    ours, plain = network(5, torch.float64), network(5, torch.float64)
    settings = TrainingSettings(epochs=3, batch_size=6, optimizer="sgd", learning_rate=0.1, weight_decay=0.01)
    everything = Task(bags, bags.labels.astype(np.int64), np.ones(6))
    history = Trainer(ours, Bernoulli(), everything, settings).run()
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
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    bags = load_dataset("needles", n_bags=12)
    one, two, other = (BagClassifier(epochs=2, random_state=seed).fit(bags, bags.labels) for seed in (1, 1, 2))
    assert weights(one.model_) == weights(two.model_)
    assert weights(one.model_) != weights(other.model_)


def test_training_leaves_the_global_random_state_alone():
    bags = load_dataset("needles", n_bags=8)
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    BagClassifier(epochs=1).fit(bags, bags.labels)
    assert torch.equal(torch.rand(3), expected[0])
    assert (np.random.rand(3) == expected[1]).all()


ENDS = {"validation": {"validation": 0.2}, "averaging": {"averaging": 0.7}}


class WithTorchDropout(nn.Module):
    """An encoder of a user's own, which draws from torch's generator."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.5))

    def forward(self, values):
        return self.layers(values)


@pytest.mark.parametrize(("encoder", "end"), [("mlp", "validation"), ("own", "validation"), ("mlp", "averaging")])
@pytest.mark.parametrize("stops", [[1], [7], [3, 4, 11], [10], [20]])
def test_a_run_cut_anywhere_and_resumed_ends_with_the_same_bits(tmp_path, encoder, end, stops):
    bags = load_dataset("needles", n_bags=25)
    torch.manual_seed(0)
    module = WithTorchDropout() if encoder == "own" else encoder

    def make():
        return BagClassifier(epochs=4, batch_size=3, random_state=7, encoder=module, **ENDS[end])

    whole = make().fit(bags, bags.labels)
    path = tmp_path / "state"
    for stop in stops:
        with pytest.raises(TrainingStopped):
            make().fit(bags, bags.labels, checkpoint=path, should_stop=Stopping(stop))
    resumed = make().fit(bags, bags.labels, checkpoint=path)
    assert weights(resumed.model_) == weights(whole.model_)
    shown = [(epoch.loss, epoch.error, epoch.validation_loss, epoch.validation_error) for epoch in resumed.history_]
    assert shown == [
        (epoch.loss, epoch.error, epoch.validation_loss, epoch.validation_error) for epoch in whole.history_
    ]


def test_the_best_weights_are_restored():
    """The final model scores on the validation bags what the best epoch scored, not what the last did."""
    bags = load_dataset("needles", n_bags=40)
    held = load_dataset("needles", n_bags=20, seed=1)
    model = BagClassifier(epochs=25, learning_rate=0.02, random_state=1, dropout=0.0)
    model.fit(bags, bags.labels, validation=(held, held.labels))
    criteria = [epoch.criterion for epoch in model.history_]
    probabilities = model.predict_proba(held)
    error = (model.predict(held) != held.labels).mean()
    loss = -np.log(probabilities[np.arange(20), held.labels]).mean()
    assert loss + error == pytest.approx(min(criteria), abs=1e-5)
    assert criteria[-1] > min(criteria), "the last epoch must not be the best for this test to say anything"


def test_patience_stops_early():
    bags = load_dataset("needles", n_bags=40)
    model = BagClassifier(epochs=200, learning_rate=0.02, patience=3, validation=0.25, engine="torch", random_state=1)
    model.fit(bags, bags.labels)
    criteria = [epoch.criterion for epoch in model.history_]
    assert len(criteria) == int(np.argmin(criteria)) + 1 + 3


class Watching(nn.Module):
    """Notes in which mode, and with or without gradients, it is called."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)
        self.seen = []

    def forward(self, values):
        self.seen.append((self.training, torch.is_grad_enabled()))
        return self.layer(values)


def test_validation_never_runs_in_training_mode():
    bags = load_dataset("needles", n_bags=10)
    model = BagClassifier(encoder=Watching(), epochs=1, batch_size=10, validation=0.2, random_state=0)
    model.fit(bags, bags.labels)
    watching = model.model_.encoder[1]
    assert watching.seen[-2:] == [(True, True), (False, False)]


def test_a_loss_that_is_not_finite_names_the_bag():
    bags = load_dataset("needles", n_bags=10)
    rows = bags.instances.copy()
    rows[bags.offsets[4] : bags.offsets[5]] = 3e38
    model = BagClassifier(epochs=1, standardize=False, encoder="identity", pooling="sum", random_state=0)
    with pytest.raises(InputError, match=r"loss of bag 'bag-0004' is not finite in epoch 1"):
        model.fit(bags.replace(instances=rows), bags.labels)


def test_a_run_stopped_right_after_a_step_that_spoiled_it_keeps_the_last_good_state(tmp_path):
    """Weight decay drives the weights out of range within the fourth epoch, one step before the loss shows it."""
    bags, ends = load_dataset("needles", n_bags=24), []
    words = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0, "weight_decay": 4.0, "dropout": 0.0}
    for step in range(76, 88):
        model = BagClassifier(encoder="identity", pooling="mean", random_state=0, **words)
        with pytest.raises((TrainingStopped, InputError)) as end:
            model.fit(bags, bags.labels, checkpoint=tmp_path / str(step), should_stop=Stopping(step))
        ends.append(str(end.value))
        with safetensors.safe_open(tmp_path / str(step), framework="np") as file:
            assert all(np.isfinite(file.get_tensor(name)).all() for name in file.keys())  # noqa: SIM118 (not a dict)
    assert any("weights of the model are not finite in epoch 4" in said for said in ends)
    assert any("loss of bag" in said for said in ends)
    assert "" in ends


def test_progress_hears_of_every_batch_and_epoch():
    class Counting(Progress):
        batches, epochs = 0, 0

        def batch(self, done, batches):
            self.batches += 1

        def epoch(self, record):
            self.epochs += 1

    bags = load_dataset("needles", n_bags=10)
    counting = Counting()
    BagClassifier(epochs=3, batch_size=4, random_state=0).fit(bags, bags.labels, progress=counting)
    assert (counting.batches, counting.epochs) == (9, 3)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    other = load_dataset("needles", n_bags=10, seed=1)
    model = BagClassifier(epochs=2, random_state=0)
    with pytest.raises(TrainingStopped):
        model.fit(bags, bags.labels, checkpoint=tmp_path / "state", should_stop=Stopping(2))
    with pytest.raises(InputError, match="training bags was"):
        model.fit(other, other.labels, checkpoint=tmp_path / "state")


class Drawing(nn.Module):
    """Notes the first dropout mask of every training step."""

    def __init__(self):
        super().__init__()
        self.dropout = Dropout(0.5)
        self.layer = nn.Linear(16, 4)
        self.masks = []

    def forward(self, values):
        if self.training:
            self.masks.append(self.dropout(torch.ones(1, 64)).numpy().tobytes())
        return self.layer(values)


def test_every_step_of_every_epoch_draws_anew_also_when_the_encoder_came_in_evaluation_mode():
    bags = load_dataset("needles", n_bags=6)
    model = BagClassifier(encoder=Drawing().eval(), epochs=4, batch_size=2, random_state=0).fit(bags, bags.labels)
    masks = model.model_.encoder[1].masks
    assert len(masks) == 4 * 3
    assert len(set(masks)) == len(masks)


def test_validation_weighs_the_classes_as_training_does():
    """With a factor on one class, the validation loss is the mean of the weighted losses."""
    bags, held = load_dataset("needles", n_bags=20), load_dataset("needles", n_bags=10, seed=1)
    factors = {0: 1.0, 1: 5.0}
    model = BagClassifier(epochs=1, class_weight=factors, random_state=0)
    model.fit(bags, bags.labels, validation=(held, held.labels))
    losses = -np.log(model.predict_proba(held)[np.arange(10), held.labels])
    expected = (losses * np.array([factors[label] for label in held.labels])).mean()
    assert model.history_[0].validation_loss == pytest.approx(expected, rel=1e-5)


def test_a_checkpoint_of_other_class_weights_is_refused(tmp_path):
    bags = load_dataset("needles", n_bags=10)
    with pytest.raises(TrainingStopped):
        BagClassifier(epochs=2, random_state=0).fit(
            bags, bags.labels, checkpoint=tmp_path / "state", should_stop=Stopping(2)
        )
    with pytest.raises(InputError, match="class_weight was None and is now"):
        BagClassifier(epochs=2, random_state=0, class_weight={0: 1, 1: 2}).fit(
            bags, bags.labels, checkpoint=tmp_path / "state"
        )


@pytest.mark.parametrize("validation", [None, 0.25])
def test_a_last_step_that_diverges_stops_the_run_too(validation):
    bags = load_dataset("needles", n_bags=8)
    model = BagClassifier(
        epochs=1, batch_size=8, learning_rate=1e38, dropout=0.0, validation=validation, random_state=0
    )
    with pytest.raises(InputError, match="not finite in epoch 1"):
        model.fit(bags, bags.labels)


def test_the_weights_of_the_last_epochs_are_averaged():
    bags = load_dataset("needles", n_bags=12)
    words = {"random_state": 1, "dropout": 0.5}
    ends = [BagClassifier(epochs=done, **words).fit(bags, bags.labels).model_.state_dict() for done in (4, 5)]
    averaged = BagClassifier(epochs=5, averaging=0.4, **words).fit(bags, bags.labels).model_.state_dict()
    for name, value in averaged.items():
        torch.testing.assert_close(value, (ends[0][name] + ends[1][name]) / 2)


class Deserted(Ranks):
    """A process whose others die while all agree to go on."""

    def agreed(self, wish):
        raise Lost


def test_a_process_that_is_left_alone_says_so_wherever_it_waits():
    """Not only where gradients are summed."""
    bags = load_dataset("needles", n_bags=8)
    trainer = Trainer(
        network(bags.instances.shape[1]), Bernoulli(), task(bags), TrainingSettings(epochs=1), ranks=Deserted()
    )
    with pytest.raises(InputError, match="another process of this run has died or cannot be reached; start the run"):
        trainer.run()
