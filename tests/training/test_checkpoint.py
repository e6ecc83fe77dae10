import json

import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.training.checkpoint import Checkpoint, State
from bagwise.training.history import Best, Epoch
from bagwise.training.settings import TrainingSettings


def make_state(optimizer="adam", seed=0, momentum=0.9, model=None):
    torch.manual_seed(seed)
    model = nn.Linear(3, 2) if model is None else model
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    settings = TrainingSettings(optimizer=optimizer, momentum=momentum)
    state = State(model, settings.build_optimizer(model.parameters()))
    train(state, steps=2)
    return state


def train(state, steps):
    for _ in range(steps):
        state.optimizer.zero_grad()
        state.model(torch.ones(1, 3, dtype=next(state.model.parameters()).dtype)).sum().backward()
        state.optimizer.step()


@pytest.mark.parametrize(("optimizer", "momentum"), [("adam", 0.9), ("sgd", 0.9), ("sgd", 0.0)])
def test_restoring_gives_the_same_bits_and_the_same_next_step(tmp_path, optimizer, momentum):
    state = make_state(optimizer, momentum=momentum)
    state.epoch, state.batch, state.loss = 1, 5, 0.1 + 0.2
    state.history = [Epoch(1, 1 / 3, 0.5, 0.7, None, 1e-3, 0.25)]
    state.best = Best(1, 1 / 7, {name: value.clone() for name, value in state.model.state_dict().items()})
    checkpoint = Checkpoint(tmp_path / "state", {"seed": 1})
    checkpoint.save(state)
    other = make_state(optimizer, seed=9, momentum=momentum)
    assert checkpoint.restore(other)
    assert (other.epoch, other.batch, other.loss) == (1, 5, state.loss)
    assert other.history == state.history
    assert (other.best.epoch, other.best.criterion) == (1, 1 / 7)
    for one in (state, other):
        train(one, steps=1)
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[name])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_weights_that_lie_with_their_channels_last_go_on_to_the_same_bits(tmp_path, optimizer):
    def step(state):
        state.optimizer.zero_grad()
        images = torch.arange(2 * 3 * 5 * 5).reshape(2, 3, 5, 5) / 100
        state.model(images).square().sum().backward()
        state.optimizer.step()

    def build(seed):
        torch.manual_seed(seed)
        model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
        state = State(model, TrainingSettings(optimizer=optimizer).build_optimizer(model.parameters()))
        step(state)
        return state

    state, other = build(0), build(1)
    checkpoint = Checkpoint(tmp_path / "state", {})
    checkpoint.save(state)
    checkpoint.restore(other)
    for one in (state, other):
        step(one)
    assert torch.equal(state.model.weight, other.model.weight)


def test_no_checkpoint_is_no_error(tmp_path):
    assert not Checkpoint(tmp_path / "state", {}).restore(make_state())


def test_a_state_of_another_run_is_refused_by_what_differs(tmp_path):
    Checkpoint(tmp_path / "state", {"seed": 1, "epochs": 5}).save(make_state())
    with pytest.raises(InputError, match="seed was 1 and is now 2"):
        Checkpoint(tmp_path / "state", {"seed": 2, "epochs": 5}).restore(make_state())


def test_a_flipped_bit_or_a_cut_file_is_never_loaded(tmp_path):
    path = tmp_path / "state"
    checkpoint = Checkpoint(path, {"seed": 1})
    checkpoint.save(make_state())
    whole = path.read_bytes()
    for place in (len(whole) - 3, len(whole) // 2, 20):
        broken = bytearray(whole)
        broken[place] ^= 1
        path.write_bytes(bytes(broken))
        with pytest.raises(InputError, match="damaged"):
            checkpoint.restore(make_state())
    path.write_bytes(whole[:-10])
    with pytest.raises(InputError, match="damaged"):
        checkpoint.restore(make_state())


class Tied(nn.Module):
    """A module whose two layers share one weight, as an encoder of one's own may."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, values):
        return self.second(self.first(values).tanh())


def test_tied_weights_are_saved_and_stay_tied(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state", {})
    state, other = (make_state(model=Tied(), seed=seed) for seed in (0, 9))
    checkpoint.save(state)
    assert checkpoint.restore(other)
    assert other.model.second.weight is other.model.first.weight
    for one in (state, other):
        train(one, steps=1)
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[name])


def test_weights_of_a_type_that_numpy_does_not_know_are_saved(tmp_path):
    checkpoint = Checkpoint(tmp_path / "state", {})
    state = make_state(model=nn.Linear(3, 2).bfloat16())
    checkpoint.save(state)
    other = make_state(model=nn.Linear(3, 2).bfloat16(), seed=9)
    assert checkpoint.restore(other)
    assert torch.equal(state.model.weight, other.model.weight)


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path} is a folder; give a file's path"):
        Checkpoint(tmp_path, {}).restore(make_state())
    with pytest.raises(InputError, match=f"{tmp_path} is a folder; give a file's path"):
        Checkpoint(tmp_path, {}).save(make_state())


@pytest.mark.parametrize("change", [lambda header: header.pop("best"), lambda header: header.pop("identity"), None])
def test_a_whole_file_with_another_header_is_damaged(tmp_path, monkeypatch, change):
    checkpoint, dumps = Checkpoint(tmp_path / "state", {"seed": 1}), json.dumps

    def other_header(header):
        if change is None:
            return "[]"
        change(header)
        return dumps(header)

    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", other_header)
        checkpoint.save(make_state())
    with pytest.raises(InputError, match="damaged: it does not hold what a run's state consists of"):
        checkpoint.restore(make_state())


@pytest.mark.parametrize(("epoch", "batch"), [(-7, 0), (2, 0), (10**30, 0), (1, -1), (1, 10**20)])
def test_a_place_that_the_history_denies_is_refused(tmp_path, epoch, batch):
    state = make_state("sgd")
    state.epoch, state.batch, state.history = epoch, batch, [Epoch(1, 1 / 3, 0.5, 0.7, None, 1e-3, 0.25)]
    checkpoint = Checkpoint(tmp_path / "state", {})
    checkpoint.save(state)
    with pytest.raises(InputError, match="is damaged"):
        checkpoint.restore(make_state("sgd"))
