"""Training of the networks of an estimator: one, or one per fold, whose scores are averaged.

s = 1/M Σₘ sₘ        each sₘ trained without the bags of fold m, which calibrate it
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from bagwise.estimators.calibration import HeldOutScores
from bagwise.estimators.network_builder import build_network
from bagwise.estimators.training_tasks import FOLDS, TrainingPlan
from bagwise.nn import BagModel, average_models
from bagwise.training import (
    Checkpoint,
    Epoch,
    FinishedPart,
    PartProgress,
    Trainer,
    TrainingProgress,
    average_histories,
    resolve_device,
    run_inference,
)
from bagwise.training.engines import EngineChoice, choose_engine
from bagwise.training.streaming import MemoryBudget, resolve_memory


class TrainedNetworks(NamedTuple):
    """The result of a training.

    Attributes
    ----------
    model : BagModel
        The network, or the average of the networks.
    history : list of Epoch
        Its epochs, or their averages over the networks.
    held_out : HeldOutScores or None
        Scores of the held-out bags, in the order of the parts of the plan, by the network that was trained without
        them; None without held-out bags.
    """

    model: BagModel
    history: list[Epoch]
    held_out: HeldOutScores | None


def train_networks(
    estimator: Any,
    plan: TrainingPlan,
    choice: EngineChoice,
    checkpoint: Checkpoint | None,
    progress: TrainingProgress,
    should_stop: Callable[[], bool],
) -> TrainedNetworks:
    """Train the networks of a plan one after the other; a checkpoint also has those that are finished.

    Parameters
    ----------
    estimator : BagNetwork
        The estimator whose parameters define the networks.
    plan : TrainingPlan
        Bags, settings and seeds.
    choice : EngineChoice
        The engine, from ``choose_plan_engine``.
    checkpoint : Checkpoint or None
        File for the state of the training; if it exists, training resumes from it.
    progress : TrainingProgress
        Receives the progress.
    should_stop : callable
        Called between steps; if it returns True, training stops and raises ``TrainingStopped``.

    Returns
    -------
    TrainedNetworks
    """
    device = resolve_device(estimator.device)
    _check_held_out_bags_fit(estimator, plan)
    finished = [] if checkpoint is None else checkpoint.load_finished()
    models, histories = [], []
    progress.engine(choice)
    with progress:
        for number, part in enumerate(plan.parts):
            model = build_network(estimator, part.training.bags, part.seed)
            if number < len(finished):
                model.load_state_dict(finished[number].weights)
                model.to(device).eval()
                history = finished[number].history
            else:
                history = Trainer(
                    model,
                    estimator.likelihood_,
                    part.training,
                    replace(plan.settings, seed=part.seed),
                    validation=part.held_out if plan.chooses_epoch else None,
                    device=device,
                    engine=choice.build,
                    memory=resolve_memory(estimator.memory, device),
                    checkpoint=checkpoint,
                    progress=PartProgress(progress, number, len(plan.parts)),
                    should_stop=should_stop,
                ).run()
            if checkpoint is not None:
                checkpoint = checkpoint.add_finished(FinishedPart(model.state_dict(), history))
            models.append(model)
            histories.append(history)
    held_out = _score_held_out(estimator, plan, models)
    return TrainedNetworks(average_models(models), average_histories(histories), held_out)


def choose_plan_engine(estimator: Any, plan: TrainingPlan, device: torch.device) -> EngineChoice:
    """Choose the engine for all networks of a plan; the compilation of the fused engine pays off over all of them."""
    part = plan.parts[0]
    model = build_network(estimator, part.training.bags[:1], part.seed)
    return choose_engine(
        estimator.engine,
        model,
        estimator.likelihood_,
        part.training,
        plan.settings,
        device,
        n_models=len(plan.parts),
    )


def _check_held_out_bags_fit(estimator: Any, plan: TrainingPlan) -> None:
    """Check the memory for the held-out bags before the training, because they are scored whole after it."""
    device = resolve_device(estimator.device)
    for part in plan.parts:
        if part.held_out is not None:
            model = build_network(estimator, part.training.bags[:1], part.seed).eval()
            largest = np.array([part.held_out.bags.sizes.argmax()])
            with torch.no_grad():
                MemoryBudget(resolve_memory(estimator.memory, device)).check_whole_bags(
                    model, part.held_out.bags, largest, device
                )


def _score_held_out(estimator: Any, plan: TrainingPlan, models: list[BagModel]) -> HeldOutScores | None:
    tasks = [part.held_out for part in plan.parts if part.held_out is not None]
    if not tasks:
        return None
    device = resolve_device(estimator.device)
    memory = resolve_memory(estimator.memory, device)
    scores = [
        run_inference(model, task.bags, device, memory=memory).scores for model, task in zip(models, tasks, strict=True)
    ]
    folds = np.repeat(np.arange(len(tasks)), [len(task.bags) for task in tasks])
    if len(tasks) == 1:  # folds of one set of bags, so that its loss can be computed by cross-validation
        folds = np.arange(len(folds)) % min(FOLDS, len(folds))
    return HeldOutScores(np.arange(len(folds)), np.concatenate(scores), folds)
