"""Checkpoints: the whole state of a run in one safetensors file, written atomically, with its own SHA-256.

The numbers that are not tensors lie in the file's header as JSON; nothing is ever unpickled.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import save as as_bytes
from torch import Tensor, nn, optim

from bagwise.errors import InputError
from bagwise.files import atomic, check_room
from bagwise.formats.blaming import blaming
from bagwise.training.history import Best, Epoch

COUNTERS = ("epoch", "batch", "loss", "errors", "seconds")  # of State
MOST_BATCHES = 1 << 53
HEADER = {"identity", *COUNTERS, "history", "best"}


@dataclass
class State:
    """Everything that changes during training."""

    model: nn.Module
    optimizer: optim.Optimizer
    epoch: int = 0  # epochs completed
    batch: int = 0  # batches completed in the epoch under way
    loss: float = 0.0  # sums over the bags of the epoch under way
    errors: float = 0.0
    seconds: float = 0.0
    history: list[Epoch] = field(default_factory=list)
    best: Best | None = None
    average: dict[str, Tensor] = field(default_factory=dict)  # of the weights of the last epochs; empty before them


@dataclass(frozen=True)
class Checkpoint:
    """Where a run's state is kept, and what identifies the run: a state of other data or settings is refused."""

    path: Path
    identity: dict[str, Any]

    def save(self, state: State) -> None:
        """Replace the last checkpoint; a process killed meanwhile leaves the last one whole."""
        tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
        if state.best is not None:
            tensors |= {f"best.{name}": value for name, value in state.best.weights.items()}
        tensors |= {f"average.{name}": value for name, value in state.average.items()}
        for number, entries in state.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{key}": torch.as_tensor(value) for key, value in entries.items()}
        tensors = {name: _own(value) for name, value in tensors.items()}
        header = {
            "identity": self.identity,
            **{name: getattr(state, name) for name in COUNTERS},
            "history": [record.as_dict() for record in state.history],
            "best": None if state.best is None else [state.best.epoch, state.best.criterion],
        }
        text = json.dumps(header)
        with atomic(self.path) as draft:
            draft.write_bytes(as_bytes(tensors, metadata={"state": text, "sha256": _digest(tensors, text)}))

    def check_room(self, state: State) -> None:
        """Refuse a run whose checkpoints cannot fit on the disk, before its first step."""
        values = [*state.model.state_dict().values()]
        moments = 2 if "betas" in state.optimizer.defaults else bool(state.optimizer.defaults.get("momentum"))
        once = sum(value.nbytes for value in values) * (1 + moments)
        check_room(self.path, 2 * once)  # the next one is written beside the last

    def restore(self, state: State) -> bool:
        """Bring a fresh state to where the checkpoint stands; False if there is none."""
        if not self.path.exists():
            return False
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; give a file's path for the checkpoint")
        tensors, header = _read(self.path)
        if header["identity"] != self.identity:
            raise InputError(f"{self.path} belongs to another run: {_difference(header['identity'], self.identity)}")
        with blaming(self.path, "is damaged", "delete it to start the run anew"):
            _fill(state, tensors, header)
        return True


def _fill(state: State, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    state.model.load_state_dict(_part(tensors, "model."))
    _restore_optimizer(state.optimizer, _part(tensors, "optimizer."))
    for name in COUNTERS:
        setattr(state, name, type(getattr(state, name))(header[name]))
    state.history = [Epoch(**record) for record in header["history"]]
    if state.epoch != len(state.history) or not 0 <= state.batch < MOST_BATCHES:
        raise ValueError("it stands at another epoch than its history")
    if header["best"] is not None:
        epoch, criterion = header["best"]
        state.best = Best(int(epoch), float(criterion), _part(tensors, "best."))
    state.average = _part(tensors, "average.")


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        text, recorded = metadata["state"], metadata["sha256"]
        header = json.loads(text)
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it to start the run anew") from None
    if _digest(tensors, text) != recorded:
        raise InputError(f"{path} is damaged: its content does not have the recorded SHA-256; delete it to start anew")
    if not isinstance(header, dict) or header.keys() != HEADER or not isinstance(header["identity"], dict):
        raise InputError(f"{path} is damaged: it does not hold what a run's state consists of; delete it to start anew")
    return tensors, header


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)  # bytes: NumPy knows no bfloat16
    return digest.hexdigest()


def _own(value: Tensor) -> Tensor:
    """A copy with memory of its own: safetensors stores no two names of the same memory (tied weights)."""
    return value.detach().cpu().clone(memory_format=torch.contiguous_format)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _restore_optimizer(optimizer: optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, key = name.split(".", 1)
        entries.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if value.shape == parameter.shape:  # a fused optimiser walks through memory, in the order of the weights
                state[key] = torch.empty_like(parameter).copy_(value)


def _difference(stored: dict[str, Any], wanted: dict[str, Any]) -> str:
    names = [name for name in sorted({*stored, *wanted}) if stored.get(name) != wanted.get(name)]
    shown = ", ".join(f"{name} was {stored.get(name)!r} and is now {wanted.get(name)!r}" for name in names[:3])
    return f"{shown}; repeat the first command, or choose a new folder"
