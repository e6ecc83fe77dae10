import json

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.training.checkpoint import Checkpoint, TrainingState
from bagwise.training.history import Best, Epoch
from bagwise.training.settings import TrainingSettings

RECORD = Epoch(
    epoch=1,
    loss=1 / 3,
    error=0.5,
    validation_loss=0.7,
    validation_error=None,
    learning_rate=1e-3,
    seconds=0.25,
)


def make_state(optimizer="adam", seed=0, momentum=0.9, model=None):
    torch.manual_seed(seed)
    model = nn.Linear(3, 2) if model is None else model
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    settings = TrainingSettings(optimizer=optimizer, momentum=momentum)
    state = TrainingState(model, settings.build_optimizer(model.parameters()))
    train(state, steps=2)
    return state


def train(state, steps):
    for _ in range(steps):
        state.optimizer.zero_grad()
        state.model(torch.ones(1, 3, dtype=next(state.model.parameters()).dtype)).sum().backward()
        state.optimizer.step()


def assert_same_next_step(state, restored):
    for each in (state, restored):
        train(each, steps=1)
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, restored.model.state_dict()[name])


@pytest.mark.parametrize(("optimizer", "momentum"), [("adam", 0.9), ("sgd", 0.9), ("sgd", 0.0)])
def test_restore_gives_the_same_state_and_the_same_next_step(tmp_path, optimizer, momentum):
    state = make_state(optimizer, momentum=momentum)
    state.epoch, state.batch, state.loss, state.history = 1, 5, 0.1 + 0.2, [RECORD]
    state.best = Best(1, 1 / 7, {name: value.clone() for name, value in state.model.state_dict().items()})
    checkpoint = Checkpoint(tmp_path / "state", {"seed": 1})
    checkpoint.save(state)
    restored = make_state(optimizer, seed=9, momentum=momentum)
    assert checkpoint.restore(restored)
    assert (restored.epoch, restored.batch, restored.loss) == (1, 5, state.loss)
    assert restored.history == state.history
    assert (restored.best.epoch, restored.best.criterion) == (1, 1 / 7)
    assert_same_next_step(state, restored)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_restore_of_channels_last_weights_gives_the_same_next_step(tmp_path, optimizer):
    def step(state):
        state.optimizer.zero_grad()
        images = torch.arange(2 * 3 * 5 * 5).reshape(2, 3, 5, 5) / 100
        state.model(images).square().sum().backward()
        state.optimizer.step()

    def build(seed):
        torch.manual_seed(seed)
        model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
        state = TrainingState(model, TrainingSettings(optimizer=optimizer).build_optimizer(model.parameters()))
        step(state)
        return state

    state, restored = build(0), build(1)
    checkpoint = Checkpoint(tmp_path / "state", {})
    checkpoint.save(state)
    checkpoint.restore(restored)
    for each in (state, restored):
        step(each)
    assert torch.equal(state.model.weight, restored.model.weight)


class TiedLayers(nn.Module):
    """Two layers that share one weight, as in some custom encoders."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, values):
        return self.second(self.first(values).tanh())


def test_restore_keeps_tied_weights_tied(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state", {})
    state, restored = (make_state(model=TiedLayers(), seed=seed) for seed in (0, 9))
    checkpoint.save(state)
    assert checkpoint.restore(restored)
    assert restored.model.second.weight is restored.model.first.weight
    assert_same_next_step(state, restored)


def test_restore_of_bfloat16_weights_gives_the_same_weights(tmp_path):
    """Bytes have to be hashed without NumPy arrays of this dtype, because NumPy has no bfloat16."""
    checkpoint = Checkpoint(tmp_path / "state", {})
    state = make_state(model=nn.Linear(3, 2).bfloat16())
    checkpoint.save(state)
    restored = make_state(model=nn.Linear(3, 2).bfloat16(), seed=9)
    assert checkpoint.restore(restored)
    assert torch.equal(state.model.weight, restored.model.weight)


def test_restore_without_a_checkpoint_returns_false(tmp_path):
    assert not Checkpoint(tmp_path / "state", {}).restore(make_state())


def test_restore_rejects_a_checkpoint_of_another_run_with_the_difference(tmp_path):
    Checkpoint(tmp_path / "state", {"seed": 1, "epochs": 5}).save(make_state())
    with pytest.raises(InputError, match="belongs to another run: seed was 1 and is now 2; repeat the first command"):
        Checkpoint(tmp_path / "state", {"seed": 2, "epochs": 5}).restore(make_state())


def test_restore_rejects_a_file_with_a_flipped_bit_or_a_missing_end(tmp_path):
    path = tmp_path / "state"
    checkpoint = Checkpoint(path, {"seed": 1})
    checkpoint.save(make_state())
    content = path.read_bytes()
    for position in (len(content) - 3, len(content) // 2, 20):
        flipped = bytearray(content)
        flipped[position] ^= 1
        path.write_bytes(bytes(flipped))
        with pytest.raises(InputError, match="damaged"):
            checkpoint.restore(make_state())
    path.write_bytes(content[:-10])
    with pytest.raises(InputError, match="damaged"):
        checkpoint.restore(make_state())


@pytest.mark.parametrize("change", [lambda header: header.pop("best"), lambda header: header.pop("identity"), None])
def test_restore_rejects_a_valid_file_with_another_header(tmp_path, monkeypatch, change):
    checkpoint, dumps = Checkpoint(tmp_path / "state", {"seed": 1}), json.dumps

    def dump_other_header(header):
        if change is None:
            return "[]"
        change(header)
        return dumps(header)

    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", dump_other_header)
        checkpoint.save(make_state())
    with pytest.raises(InputError, match="damaged: its header does not describe the state of a run"):
        checkpoint.restore(make_state())


@pytest.mark.parametrize(("epoch", "batch"), [(-7, 0), (2, 0), (10**30, 0), (1, -1), (1, 10**20)])
def test_restore_rejects_an_epoch_or_batch_that_contradicts_the_history(tmp_path, epoch, batch):
    state = make_state("sgd")
    state.epoch, state.batch, state.history = epoch, batch, [RECORD]
    checkpoint = Checkpoint(tmp_path / "state", {})
    checkpoint.save(state)
    with pytest.raises(InputError, match=r"is damaged .*does not agree with its history"):
        checkpoint.restore(make_state("sgd"))


def test_save_and_restore_reject_a_folder(tmp_path):
    for action in (Checkpoint(tmp_path, {}).restore, Checkpoint(tmp_path, {}).save):
        with pytest.raises(InputError, match=f"{tmp_path} is a folder; give a file's path"):
            action(make_state())
