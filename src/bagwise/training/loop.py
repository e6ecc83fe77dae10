"""The training loop: shuffled batches of bags, validation, checkpoints, the best weights; an engine does the steps.

Every random draw is a function of the seed and the place in the run (see ``randomness``), so a run that was cut and
resumed ends with the same bits as one that was not.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from bagwise import randomness
from bagwise.errors import InputError
from bagwise.likelihoods import Likelihood
from bagwise.places import set_place
from bagwise.randomness import Purpose
from bagwise.training.averaging import running_mean
from bagwise.training.batches import tensor
from bagwise.training.checkpoint import Checkpoint, State
from bagwise.training.engines import Diverged, Engine, Problem, Sums, TorchEngine
from bagwise.training.history import Best, Epoch, exhausted, improves
from bagwise.training.inference import infer
from bagwise.training.progress import Progress
from bagwise.training.ranks import Lost, Ranks, current
from bagwise.training.settings import TrainingSettings
from bagwise.training.tasks import Task


class TrainingStopped(Exception):  # noqa: N818 (no error: somebody asked for it)
    """Training was asked to stop; the checkpoint holds everything up to here."""


@dataclass
class Trainer:
    """Trains a model in place.

    With validation bags the model ends with the weights of the best epoch, else with those of the last, or with the
    average of those of the last epochs. A checkpoint is written after every epoch, and within one when ``should_stop``
    says so; if there is one already, training goes on from it.
    """

    model: nn.Module
    likelihood: Likelihood
    task: Task
    settings: TrainingSettings
    validation: Task | None = None
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    engine: Callable[[Problem], Engine] = TorchEngine
    memory: float = math.inf
    checkpoint: Checkpoint | None = None
    ranks: Ranks = field(default_factory=current)
    progress: Progress = field(default_factory=Progress)
    should_stop: Callable[[], bool] = lambda: False

    def run(self) -> list[Epoch]:
        """Train to the end, and return a record of every epoch."""
        self.model.to(self.device)
        optimizer = self.settings.build_optimizer(self.model.parameters())
        self.state = State(self.model, optimizer)
        if self.checkpoint is not None:
            self.ranks.wait()
            self.checkpoint.check_room(self.state)
            self.checkpoint.restore(self.state)
            self.ranks.check_same([self.state.epoch, self.state.batch], "checkpoint")
        engine = self.engine(
            Problem(
                self.model,
                self.likelihood,
                self.task,
                optimizer,
                self.settings.seed,
                self.device,
                self.memory,
                self.settings.most_instances,
                self.settings.precision,
            )
        )
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []), self.progress:
            self.progress.start(self.state.epoch, self.settings.epochs)
            try:
                while not self._finished():
                    self._epoch(engine)
            except Lost:
                raise Lost(self._kept()) from None
            finally:
                set_place(self.model, None)
                self.model.eval()
        if kept := self.state.average or (self.state.best and self.state.best.weights):
            self.model.load_state_dict(kept)
        return self.state.history

    def _finished(self) -> bool:
        history = self.state.history
        if len(history) >= self.settings.epochs:
            return True
        return bool(history) and exhausted(history[-1], self.state.best, self.settings.patience)

    def _epoch(self, engine: Engine) -> None:
        """The batches of the epoch that are still to do, then its record."""
        state = self.state
        batches, stride = self._batches(state.epoch), max(1, engine.stride // self.settings.batch_size)
        self.model.train()
        while state.batch < len(batches):
            started = time.perf_counter()
            chosen = batches[state.batch : state.batch + stride]
            sums = self._steps(engine, chosen, state.epoch * len(batches) + state.batch)
            state.loss += sums.loss
            state.errors += sums.errors
            state.batch += len(chosen)
            state.seconds += time.perf_counter() - started
            self.progress.batch(state.batch, len(batches))
            if self.ranks.agreed(self.should_stop()):
                self._check_weights()  # before they replace the last good ones
                self._save()
                raise TrainingStopped
        self._close_epoch()
        self.progress.epoch(state.history[-1])
        self._save()

    def _batches(self, epoch: int) -> list[np.ndarray]:
        order = randomness.generator(self.settings.seed, Purpose.SHUFFLE, epoch).permutation(len(self.task.bags))
        size = self.settings.batch_size
        return [order[start : start + size] for start in range(0, len(order), size)]

    def _steps(self, engine: Engine, batches: list[np.ndarray], first_step: int) -> Sums:
        try:
            return engine.run(batches, first_step, self.settings.learning_rate_at(self.state.epoch))
        except Diverged as diverged:
            self.state.batch += diverged.batch
            name = self.task.bags.name(diverged.bag)
            message = self._divergence(f"the loss of bag '{name}' is", " that bag's values,")
            raise InputError(message) from None

    def _divergence(self, what: str, look_at: str) -> str:
        place = f"epoch {self.state.epoch + 1}, batch {self.state.batch + 1}"
        return (
            f"{what} not finite in {place}; look at{look_at} the features' scale (standardize), "
            f"or lower learning_rate (now {self.settings.learning_rate:g}){self._kept()}"
        )

    def _kept(self) -> str:
        """What a run that ends here leaves to go on from."""
        there = self.checkpoint is not None and self.checkpoint.path.exists()
        return f"; the last good state is kept in {self.checkpoint.path}" if self.checkpoint and there else ""

    def _check_weights(self) -> None:
        sums = torch.stack([value.detach().sum() for value in self.model.parameters()])  # a look at each value is slow
        if not sums.isfinite().all():
            raise InputError(self._divergence("the weights of the model are", ""))

    def _close_epoch(self) -> None:
        """Validate, write the record, keep the weights if they are the best, and count the epoch as done."""
        state, n_bags = self.state, len(self.task.bags)
        started = time.perf_counter()
        self._check_weights()
        validation_loss, validation_error = self._validate()
        record = Epoch(
            epoch=state.epoch + 1,
            loss=state.loss / n_bags,
            error=state.errors / n_bags,
            validation_loss=validation_loss,
            validation_error=validation_error,
            learning_rate=self.settings.learning_rate_at(state.epoch),
            seconds=state.seconds + time.perf_counter() - started,
        )
        state.history.append(record)
        if record.criterion is not None and improves(record, state.best):
            weights = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
            state.best = Best(record.epoch, record.criterion, weights)
        state.epoch, state.batch = state.epoch + 1, 0
        if count := self.settings.averaged(state.epoch):
            state.average = running_mean(state.average, self.model.state_dict(), count)
        state.loss = state.errors = state.seconds = 0.0

    def _validate(self) -> tuple[float | None, float | None]:
        if self.validation is None:
            return None, None
        scores = torch.from_numpy(infer(self.model, self.validation.bags, self.device).scores)
        targets = tensor(self.validation.targets)
        losses = self.likelihood.loss(scores, targets) * tensor(self.validation.importance)
        if not losses.isfinite().all():
            name = self.validation.bags.name(int((~losses.isfinite()).int().argmax()))
            raise InputError(self._divergence(f"the loss of validation bag '{name}' is", " that bag's values,"))
        return losses.mean().item(), self.likelihood.errors(scores, targets).mean().item()

    def _save(self) -> None:
        if self.checkpoint is not None and self.ranks.first:
            self.checkpoint.save(self.state)
