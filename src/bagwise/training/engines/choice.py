"""Choice of the engine: the requested engine, or with "auto" the faster engine that supports the model.

All engines implement the same computation with the same random numbers. They differ only in rounding, so the engine is
recorded with a run.
"""

import importlib.util
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from bagwise.arguments import choose_by_name
from bagwise.errors import InputError
from bagwise.parallel import Ranks, get_ranks
from bagwise.targets import Likelihood
from bagwise.training.batches import TrainingTask
from bagwise.training.devices import check_precision
from bagwise.training.engines.base import Engine, TrainingProblem
from bagwise.training.engines.distributed_engine import DistributedEngine
from bagwise.training.engines.fused.compatibility import UnsupportedModelError, decompose_model
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.settings import TrainingSettings

ENGINES = ("auto", "torch", "fused")

COMPILATION = "compiling, once, about 10 s"
INSTALL_COMMAND = "pip install 'bagwise[fast]'"

# The first compilation of the kernels takes as long as several thousand steps of the torch engine, or several hundred
# steps with images. Compiled kernels are cached, so the compilation pays off over a few trainings of this many steps.
# The cache itself is not considered: the choice must depend on the data and the model only.
MIN_STEPS = 2500
MIN_STEPS_WITH_IMAGES = 500
MAX_BATCH_ROWS = 256  # with larger batches the matrix products of torch are as fast; its convolutions are always slower
MAX_VALUES = 1 << 26  # maximum size of the prepared instances, which the fused engine keeps in memory: 256 MB
MAX_BAG_ROWS = 1 << 14  # the fused engine stores all embeddings of a bag; torch processes larger bags in pieces


class EngineChoice(NamedTuple):
    """Engine of a run.

    Attributes
    ----------
    name : str
        Name of the engine.
    build : callable
        Function that builds the engine from a ``TrainingProblem``.
    remark : str, default=""
        Reason for the choice, or a note for the user.
    preparation : str, default=""
        What the first step may wait for, to be shown until it is done.
    """

    name: str
    build: Callable[[TrainingProblem], Engine]
    remark: str = ""
    preparation: str = ""

    def __str__(self) -> str:
        return f"engine: {self.name}" + (f" ({self.remark})" if self.remark else "")


def choose_engine(
    name: str,
    model: nn.Module,
    likelihood: Likelihood,
    task: TrainingTask,
    settings: TrainingSettings,
    device: torch.device,
    n_models: int = 1,
) -> EngineChoice:
    """Choose the engine of a run.

    A run with several processes uses the distributed version of the torch engine. Its name is also "torch", so that a
    run that was started with one process can be resumed with several.

    Parameters
    ----------
    name : {"auto", "torch", "fused"}
        Name of the engine. "auto" chooses the fused engine if it supports the model and is expected to be faster,
        including its compilation, and the torch engine otherwise.
    model : nn.Module
        Model to train.
    likelihood : Likelihood
        Likelihood of its scores.
    task : TrainingTask
        Training bags and targets.
    settings : TrainingSettings
        Settings of the run.
    device : torch.device
        Device on which the model is trained.
    n_models : int, default=1
        Number of such models that are trained, over which the compilation pays off.

    Returns
    -------
    EngineChoice
        Name of the engine and the function that builds it.

    Raises
    ------
    InputError
        If the name is unknown, or if the requested engine cannot train the model.
    """
    name, ranks = choose_by_name(name, {engine: engine for engine in ENGINES}, "engine"), get_ranks()
    check_precision(settings.precision, device)
    if ranks.size > 1:
        return _choose_distributed(name, settings.batch_size, ranks)
    if name == "torch":
        return EngineChoice("torch", TorchEngine)
    obstacle = _find_obstacle(model, likelihood, task, settings, device)
    if name == "fused" and obstacle:
        raise InputError(f"engine 'fused' cannot train this model: {obstacle}; use engine='auto' or engine='torch'")
    reason = obstacle or (_find_slowdown(model, task, settings, n_models) if name == "auto" else "")
    if reason:
        return EngineChoice("torch", TorchEngine, remark=reason)
    return EngineChoice("fused", _build_fused, preparation=COMPILATION)


def _choose_distributed(name: str, batch_size: int, ranks: Ranks) -> EngineChoice:
    if name == "fused":
        raise InputError(
            f"engine 'fused' supports a single process, but this run has {ranks.size} processes; use engine='torch'"
        )
    if batch_size < ranks.size:
        raise InputError(
            f"this run has {ranks.size} processes, but batch_size={batch_size}, so some processes would have no bags; "
            f"use --batch-size {ranks.size} or more (in Python batch_size={ranks.size}), or start fewer processes"
        )
    return EngineChoice("torch", lambda problem: DistributedEngine(problem, ranks), remark=f"{ranks.size} processes")


def _build_fused(problem: TrainingProblem) -> Engine:
    from bagwise.training.engines.fused.engine import FusedEngine  # needs Numba, which is optional

    return FusedEngine(problem)


def _find_obstacle(
    model: nn.Module, likelihood: Likelihood, task: TrainingTask, settings: TrainingSettings, device: torch.device
) -> str:
    """Return why the fused engine cannot train the model, or an empty string."""
    if device.type != "cpu":
        return f"the fused engine runs on the CPU only, but the device is {device.type}"
    if settings.precision != "full":
        return "the fused engine supports full precision only"
    try:
        parts = decompose_model(model, likelihood)
    except UnsupportedModelError as reason:
        return str(reason)
    max_instances = settings.most_instances
    prepares_all = max_instances is None and not parts.augmentations
    if prepares_all and task.bags.n_instances * math.prod(task.bags.instance_shape) > MAX_VALUES:
        return "there are too many instances to store them in memory as floats"
    largest = min(int(task.bags.sizes.max()), max_instances or MAX_BAG_ROWS + 1)
    if largest > MAX_BAG_ROWS:
        return f"a bag has {task.bags.sizes.max():,} instances, more than {MAX_BAG_ROWS:,}"
    return "" if importlib.util.find_spec("numba") else f"Numba is not installed ({INSTALL_COMMAND})"


def _find_slowdown(model: nn.Module, task: TrainingTask, settings: TrainingSettings, n_models: int) -> str:
    """Return why the torch engine is expected to be faster, or an empty string."""
    n_batches = math.ceil(len(task.bags) / settings.batch_size)
    has_convolutions = any(isinstance(part, nn.Conv2d) for part in model.modules())
    if settings.epochs * n_batches * n_models < (MIN_STEPS_WITH_IMAGES if has_convolutions else MIN_STEPS):
        return "few steps"
    too_large = not has_convolutions and task.bags.n_instances / n_batches > MAX_BATCH_ROWS
    return "large batches" if too_large else ""
