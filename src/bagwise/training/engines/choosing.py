"""Which engine trains: the one that was asked for, or the faster of those that can.

Both follow the same mathematics with the same draws; they differ in rounding only, so a run names its engine.
"""

import importlib.util
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.likelihoods import Likelihood
from bagwise.names import choose
from bagwise.training.engines.contract import Engine, Problem
from bagwise.training.engines.distributed_engine import DistributedEngine
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.fused.reach import OutOfReach, take_apart
from bagwise.training.precision import check_precision
from bagwise.training.ranks import Ranks, current
from bagwise.training.settings import TrainingSettings
from bagwise.training.tasks import Task

ENGINES = ("auto", "torch", "fused")
COMPILING = "its first use compiles it, which takes about half a minute"
INSTALL = "pip install 'bagwise[fast]'"
FEW_STEPS = 5000  # torch does them in less than the half minute that compiling the kernels takes for the first time …
FEW_WITH_IMAGES = 1000  # … and these too, but its steps are slower, and kernels once compiled are kept
MANY_ROWS = 256  # a batch, from which on torch's matrix products are as fast; its convolutions are slower throughout
MOST_NUMBERS = 1 << 27  # of prepared instances, which the fused engine holds in memory
MOST_ROWS = 1 << 14  # of a bag, whose embeddings it holds; torch reads larger ones in pieces


class Choice(NamedTuple):
    """An engine, and what is to be said of it: why it is not the fused one, or what to wait for."""

    name: str
    build: Callable[[Problem], Engine]
    remark: str = ""

    def __str__(self) -> str:
        return f"engine: {self.name}" + (f" ({self.remark})" if self.remark else "")


def choose_engine(
    name: str, model: nn.Module, likelihood: Likelihood, task: Task, settings: TrainingSettings, device: torch.device
) -> Choice:
    """The engine of that name; "auto" takes the fused one where it can train the model and is worth its compilation.

    Several processes share a run by the engine of torch, under its name: they may go on with what one has begun.
    """
    name, ranks = choose(name, {engine: engine for engine in ENGINES}, "engine"), current()
    check_precision(settings.precision, device)
    if ranks.size > 1:
        return _distributed(name, settings.batch_size, ranks)
    if name == "torch":
        return Choice("torch", TorchEngine)
    obstacle = _obstacle(model, likelihood, task, settings, device)
    if name == "fused" and obstacle:
        raise InputError(f"engine 'fused' cannot train this: {obstacle}; use engine='auto' or 'torch'")
    reason = obstacle or (_slower(model, task, settings) if name == "auto" else "")
    return Choice("torch", TorchEngine, reason) if reason else Choice("fused", _fused, COMPILING)


def _distributed(name: str, batch_size: int, ranks: Ranks) -> Choice:
    if name == "fused":
        raise InputError("engine 'fused' trains in one process, and this run has several; use engine='torch'")
    if batch_size < ranks.size:
        raise InputError(
            f"the run has {ranks.size} processes, and a step has {batch_size} of the bags, so that some would never "
            f"have one; set batch_size to {ranks.size} or more, or start fewer processes"
        )
    return Choice("torch", lambda problem: DistributedEngine(problem, ranks), f"{ranks.size} processes")


def _fused(problem: Problem) -> Engine:
    from bagwise.training.fused.engine import FusedEngine  # Numba, which may be missing

    return FusedEngine(problem)


def _obstacle(
    model: nn.Module, likelihood: Likelihood, task: Task, settings: TrainingSettings, device: torch.device
) -> str:
    """Why the fused engine cannot train a model, or nothing."""
    if device.type != "cpu":
        return f"the fused engine computes on the CPU, and the device is {device.type}"
    if settings.precision != "full":
        return "the fused engine computes in full precision"
    try:
        parts = take_apart(model, likelihood)
    except OutOfReach as reason:
        return str(reason)
    most = settings.most_instances
    held_at_once = most is None and not parts.augmentations
    if held_at_once and task.bags.n_instances * math.prod(task.bags.instance_shape) > MOST_NUMBERS:
        return "the instances are too many to be held in memory as floats"
    largest = min(int(task.bags.sizes.max()), most or MOST_ROWS + 1)
    if largest > MOST_ROWS:
        return f"a bag has {task.bags.sizes.max():,} instances, more than {MOST_ROWS:,}"
    return "" if importlib.util.find_spec("numba") else f"Numba is not installed ({INSTALL})"


def _slower(model: nn.Module, task: Task, settings: TrainingSettings) -> str:
    """Why torch is the faster, or nothing."""
    batches = math.ceil(len(task.bags) / settings.batch_size)
    convolves = any(isinstance(part, nn.Conv2d) for part in model.modules())
    if settings.epochs * batches < (FEW_WITH_IMAGES if convolves else FEW_STEPS):
        return "few steps"
    return "large batches" if not convolves and task.bags.n_instances / batches > MANY_ROWS else ""
