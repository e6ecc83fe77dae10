import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.training.checkpoint import Checkpoint, State
from bagwise.training.history import Best, Epoch
from bagwise.training.settings import TrainingSettings


def make_state(optimizer="adam", seed=0, momentum=0.9):
    torch.manual_seed(seed)
    model = nn.Linear(3, 2)
    settings = TrainingSettings(optimizer=optimizer, momentum=momentum)
    state = State(model, settings.build_optimizer(model.parameters()))
    for _ in range(2):
        model(torch.ones(1, 3)).sum().backward()
        state.optimizer.step()
    return state


@pytest.mark.parametrize(("optimizer", "momentum"), [("adam", 0.9), ("sgd", 0.9), ("sgd", 0.0)])
def test_restoring_gives_the_same_bits_and_the_same_next_step(tmp_path, optimizer, momentum):
    state = make_state(optimizer, momentum=momentum)
    state.epoch, state.batch, state.loss = 3, 5, 0.1 + 0.2
    state.history = [Epoch(1, 1 / 3, 0.5, 0.7, None, 1e-3, 0.25)]
    state.best = Best(1, 1 / 7, {name: value.clone() for name, value in state.model.state_dict().items()})
    checkpoint = Checkpoint(tmp_path / "state", {"seed": 1})
    checkpoint.save(state)
    other = make_state(optimizer, seed=9, momentum=momentum)
    assert checkpoint.restore(other)
    assert (other.epoch, other.batch, other.loss) == (3, 5, state.loss)
    assert other.history == state.history
    assert (other.best.epoch, other.best.criterion) == (1, 1 / 7)
    for one in (state, other):
        one.optimizer.zero_grad()
        one.model(torch.ones(1, 3)).sum().backward()
        one.optimizer.step()
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[name])


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
