"""Checkpoints: the whole state of a run in one safetensors file, written atomically, with its SHA-256.

Values that are not tensors are stored as JSON in the header of the file. Loading a checkpoint executes no code from it.
"""

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import torch
from safetensors.torch import save as serialize_tensors
from torch import Tensor, nn, optim

from bagwise.errors import InputError, translate_errors
from bagwise.io import check_disk_space, write_atomically
from bagwise.parallel import get_ranks
from bagwise.training.history import Best, Epoch

COUNTERS = ("epoch", "batch", "loss", "errors", "seconds")  # fields of TrainingState
HEADER_KEYS = {"identity", *COUNTERS, "history", "best", "finished"}
MAX_BATCHES = 1 << 53
RESTART = "delete it to start the run again from the beginning"


@dataclass
class TrainingState:
    """Everything that changes during training.

    Attributes
    ----------
    model : nn.Module
        Model to train; changed in place.
    optimizer : optim.Optimizer
        Optimizer of the model; changed in place.
    epoch : int
        Number of completed epochs.
    batch : int
        Number of completed batches of the current epoch.
    loss, errors : float
        Sums of the losses and errors of the bags in the current epoch so far.
    seconds : float
        Duration of the current epoch so far, in seconds.
    history : list of Epoch
        Records of the completed epochs.
    best : Best or None
        Best epoch so far, with its weights; None without validation bags.
    average : dict of Tensor
        Averaged weights of the last epochs; empty if none of them is completed yet.
    """

    model: nn.Module
    optimizer: optim.Optimizer
    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    errors: float = 0.0
    seconds: float = 0.0
    history: list[Epoch] = field(default_factory=list)
    best: Best | None = None
    average: dict[str, Tensor] = field(default_factory=dict)


class FinishedPart(NamedTuple):
    """The final weights and the history of a network that was trained before the current one."""

    weights: dict[str, Tensor]
    history: list[Epoch]


@dataclass(frozen=True)
class Checkpoint:
    """File with the state of a run, which trains one network or several, one after the other.

    Parameters
    ----------
    path : Path
        File of the checkpoint.
    identity : dict
        Data and settings of the run, as JSON values. A checkpoint with a different identity is rejected.
    finished : tuple of FinishedPart, default=()
        The networks that are finished; the state is that of the next one.
    """

    path: Path
    identity: dict[str, Any]
    finished: tuple[FinishedPart, ...] = ()

    def add_finished(self, part: FinishedPart) -> "Checkpoint":
        """Return the checkpoint of the network that is trained after this part.

        Parameters
        ----------
        part : FinishedPart
            The network that was finished last.

        Returns
        -------
        Checkpoint
        """
        return replace(self, finished=(*self.finished, part))

    def load_finished(self) -> list[FinishedPart]:
        """Load the networks that are finished according to the file.

        Returns
        -------
        list of FinishedPart
            Empty if there is no file.

        Raises
        ------
        InputError
            If the file is damaged or belongs to another run.
        """
        get_ranks().wait()
        if (content := self._read()) is None:
            return []
        tensors, header = content
        with translate_errors(self.path, "is damaged", RESTART):
            return [
                FinishedPart(_select_prefix(tensors, f"finished.{number}."), [Epoch(**record) for record in history])
                for number, history in enumerate(header["finished"])
            ]

    def save(self, state: TrainingState) -> None:
        """Save the state, and replace the previous checkpoint atomically.

        If the process is killed during this call, the previous checkpoint stays intact.

        Parameters
        ----------
        state : TrainingState
            State to save.
        """
        tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
        if state.best is not None:
            tensors |= {f"best.{name}": value for name, value in state.best.weights.items()}
        tensors |= {f"average.{name}": value for name, value in state.average.items()}
        for number, part in enumerate(self.finished):
            tensors |= {f"finished.{number}.{name}": value for name, value in part.weights.items()}
        for number, entries in state.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{key}": torch.as_tensor(value) for key, value in entries.items()}
        tensors = {name: _copy_tensor(value) for name, value in tensors.items()}
        header = {
            "identity": self.identity,
            **{name: getattr(state, name) for name in COUNTERS},
            "history": [record.as_dict() for record in state.history],
            "best": None if state.best is None else [state.best.epoch, state.best.criterion],
            "finished": [[record.as_dict() for record in part.history] for part in self.finished],
        }
        text = json.dumps(header)
        with write_atomically(self.path) as temporary:
            content = serialize_tensors(tensors, metadata={"state": text, "sha256": _digest(tensors, text)})
            temporary.write_bytes(content)

    def restore(self, state: TrainingState) -> bool:
        """Load the checkpoint into a new state.

        Parameters
        ----------
        state : TrainingState
            State at the start of a run; changed in place.

        Returns
        -------
        bool
            True if the state was restored, False if there is no checkpoint of the network that is trained now.

        Raises
        ------
        InputError
            If the file is damaged or belongs to another run.
        """
        if (content := self._read()) is None or len(content[1]["finished"]) != len(self.finished):
            return False
        with translate_errors(self.path, "is damaged", RESTART):
            _restore_state(state, *content)
        return True

    def check_free_space(self, state: TrainingState) -> None:
        """Check that the checkpoints of this run fit on the disk; called before the first step.

        Parameters
        ----------
        state : TrainingState
            State at the start of the run.

        Raises
        ------
        InputError
            If there is not enough free space.
        """
        values = [*state.model.state_dict().values()]
        moments = 2 if "betas" in state.optimizer.defaults else bool(state.optimizer.defaults.get("momentum"))
        size = sum(value.nbytes for value in values) * (1 + moments + len(self.finished))
        check_disk_space(self.path, 2 * size)  # a new checkpoint is written next to the previous one

    def _read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the tensors and the header of the file; None if there is none."""
        if not self.path.exists():
            return None
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; give a file's path for the checkpoint")
        tensors, header = _read_checkpoint(self.path)
        if header["identity"] != self.identity:
            difference = _describe_difference(header["identity"], self.identity)
            raise InputError(
                f"{self.path} belongs to another run: {difference}; repeat the first command, or choose a new folder"
            )
        return tensors, header


def _read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        text, recorded = metadata["state"], metadata["sha256"]
        header = json.loads(text)
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error}); {RESTART}") from None
    if _digest(tensors, text) != recorded:
        raise InputError(f"{path} is damaged: its content does not match the recorded SHA-256; {RESTART}")
    if not isinstance(header, dict) or header.keys() != HEADER_KEYS or not isinstance(header["identity"], dict):
        raise InputError(f"{path} is damaged: its header does not describe the state of a run; {RESTART}")
    return tensors, header


def _restore_state(state: TrainingState, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    state.model.load_state_dict(_select_prefix(tensors, "model."))
    _restore_optimizer(state.optimizer, _select_prefix(tensors, "optimizer."))
    for name in COUNTERS:
        setattr(state, name, type(getattr(state, name))(header[name]))
    state.history = [Epoch(**record) for record in header["history"]]
    if state.epoch != len(state.history) or not 0 <= state.batch < MAX_BATCHES:
        raise ValueError("its epoch or batch does not agree with its history")
    if header["best"] is not None:
        epoch, criterion = header["best"]
        state.best = Best(epoch=int(epoch), criterion=float(criterion), weights=_select_prefix(tensors, "best."))
    state.average = _select_prefix(tensors, "average.")


def _restore_optimizer(optimizer: optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, key = name.split(".", 1)
        entries.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if value.shape == parameter.shape:  # a fused optimizer needs the memory layout of the weights
                state[key] = torch.empty_like(parameter).copy_(value)


def _select_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _copy_tensor(value: Tensor) -> Tensor:
    """Copy to separate memory: safetensors rejects tensors that share memory (tied weights)."""
    return value.detach().cpu().clone(memory_format=torch.contiguous_format)


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)  # as bytes: NumPy has no bfloat16
    return digest.hexdigest()


def _describe_difference(stored: dict[str, Any], current: dict[str, Any]) -> str:
    names = [name for name in sorted({*stored, *current}) if stored.get(name) != current.get(name)]
    return ", ".join(f"{name} was {stored.get(name)!r} and is now {current.get(name)!r}" for name in names[:3])
