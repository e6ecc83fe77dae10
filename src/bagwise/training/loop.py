"""The training loop: shuffled batches of bags, validation, checkpoints and the best or averaged weights.

An engine runs the optimizer steps. Every random number is a function of the seed and the position in the run (see
``bagwise.nn.random_streams``), so a resumed run ends with bitwise the same weights as an uninterrupted one.

The final weights can be averaged over the last epochs (Polyak & Juditsky 1992; Izmailov et al. 2018). With few bags,
the accuracy at the threshold 1/2 varies from epoch to epoch. With averaged weights it varies less, and no validation
bags have to be held out.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from bagwise.errors import InputError
from bagwise.nn import Purpose, make_generator, set_stream_position
from bagwise.parallel import RankLostError, Ranks, get_ranks
from bagwise.targets import Likelihood
from bagwise.training.batches import TrainingTask, array_to_tensor
from bagwise.training.checkpoint import Checkpoint, TrainingState
from bagwise.training.engines.base import BatchSums, DivergedError, Engine, TrainingProblem
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.history import Best, Epoch, is_improvement, is_patience_exhausted
from bagwise.training.inference import run_inference
from bagwise.training.progress import TrainingProgress
from bagwise.training.settings import TrainingSettings


class TrainingStopped(Exception):  # noqa: N818 (not an error: the stop was requested)
    """Raised when ``should_stop`` returned True; the checkpoint, if there is one, contains the state at this point."""


@dataclass
class Trainer:
    """Training loop of a model, which is changed in place.

    The final weights are the average of the last epochs if ``settings.averaging`` is positive, else those of the best
    epoch if there are validation bags, else those of the last epoch. A checkpoint is written after every epoch, and
    within an epoch when ``should_stop`` returns True. If the checkpoint already exists, training resumes from it.

    Parameters
    ----------
    model : nn.Module
        Model to train.
    likelihood : Likelihood
        Defines the loss and the errors of scores.
    task : TrainingTask
        Training bags with their targets.
    settings : TrainingSettings
        Number of epochs, optimizer and other settings.
    validation : TrainingTask or None, default=None
        Validation bags with their targets.
    device : torch.device, default=torch.device("cpu")
        Device of the computation.
    engine : callable, default=TorchEngine
        Builds the engine from a ``TrainingProblem``.
    memory : float, default=inf
        Memory limit for the instances of a step, in bytes.
    checkpoint : Checkpoint or None, default=None
        File for the state of the run; None means that no checkpoints are written.
    ranks : Ranks, default=get_ranks()
        This process among the processes of the run; by default those of ``torch.distributed``.
    progress : TrainingProgress, default=TrainingProgress()
        Receives progress reports.
    should_stop : callable, default=lambda: False
        Called after each call of the engine; training stops if it returns True.

    Attributes
    ----------
    state : TrainingState
        Current state; set by ``run``.
    """

    model: nn.Module
    likelihood: Likelihood
    task: TrainingTask
    settings: TrainingSettings
    validation: TrainingTask | None = None
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    engine: Callable[[TrainingProblem], Engine] = TorchEngine
    memory: float = math.inf
    checkpoint: Checkpoint | None = None
    ranks: Ranks = field(default_factory=get_ranks)
    progress: TrainingProgress = field(default_factory=TrainingProgress)
    should_stop: Callable[[], bool] = lambda: False

    def run(self) -> list[Epoch]:
        """Train until the last epoch, or until the patience is exhausted.

        Returns
        -------
        list of Epoch
            One record per epoch.

        Raises
        ------
        TrainingStopped
            If ``should_stop`` returned True.
        InputError
            If the loss or the weights are not finite, or the checkpoint belongs to another run.
        """
        self.model.to(self.device)
        optimizer = self.settings.build_optimizer(self.model.parameters())
        self.state = TrainingState(self.model, optimizer)
        if self.checkpoint is not None:
            self.ranks.wait()
            self.checkpoint.check_free_space(self.state)
            self.checkpoint.restore(self.state)
            self.ranks.check_same([self.state.epoch, self.state.batch], "checkpoint")
        problem = TrainingProblem(
            model=self.model,
            likelihood=self.likelihood,
            task=self.task,
            optimizer=optimizer,
            seed=self.settings.seed,
            device=self.device,
            memory=self.memory,
            most_instances=self.settings.most_instances,
            precision=self.settings.precision,
        )
        engine = self.engine(problem)
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []), self.progress:
            self.progress.start(self.state.epoch, self.settings.epochs)
            try:
                while not self._is_finished():
                    self._run_epoch(engine)
            except RankLostError:
                raise RankLostError(self._describe_checkpoint()) from None
            finally:
                set_stream_position(self.model, None)
                self.model.eval()
        if final_weights := self.state.average or (self.state.best and self.state.best.weights):
            self.model.load_state_dict(final_weights)
        return self.state.history

    def _is_finished(self) -> bool:
        history = self.state.history
        if len(history) >= self.settings.epochs:
            return True
        return bool(history) and is_patience_exhausted(history[-1], self.state.best, self.settings.patience)

    def _run_epoch(self, engine: Engine) -> None:
        """Run the remaining batches of the current epoch and record the epoch."""
        state = self.state
        batches, stride = self._make_batches(state.epoch), max(1, engine.stride // self.settings.batch_size)
        self.model.train()
        while state.batch < len(batches):
            started = time.perf_counter()
            chosen = batches[state.batch : state.batch + stride]
            sums = self._run_steps(engine, chosen, state.epoch * len(batches) + state.batch)
            state.loss += sums.loss
            state.errors += sums.errors
            state.batch += len(chosen)
            state.seconds += time.perf_counter() - started
            self.progress.batch(state.batch, len(batches))
            if self.ranks.any_process(self.should_stop()):
                self._check_weights()  # before they overwrite the last good checkpoint
                self._save()
                raise TrainingStopped
        self._finish_epoch()
        self.progress.epoch(state.history[-1])
        self._save()

    def _make_batches(self, epoch: int) -> list[np.ndarray]:
        order = make_generator(self.settings.seed, Purpose.SHUFFLE, epoch).permutation(len(self.task.bags))
        size = self.settings.batch_size
        return [order[start : start + size] for start in range(0, len(order), size)]

    def _run_steps(self, engine: Engine, batches: list[np.ndarray], first_step: int) -> BatchSums:
        try:
            return engine.run(batches, first_step, self.settings.learning_rate_at(self.state.epoch))
        except DivergedError as diverged:
            self.state.batch += diverged.batch
            name = self.task.bags.name(diverged.bag)
            message = self._describe_divergence(f"the loss of bag '{name}' is", " the values of that bag,")
            raise InputError(message) from None

    def _finish_epoch(self) -> None:
        """Validate, record the epoch, and store the weights if they are the best or part of the average."""
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
        if record.criterion is not None and is_improvement(record, state.best):
            weights = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
            state.best = Best(epoch=record.epoch, criterion=record.criterion, weights=weights)
        state.epoch, state.batch = state.epoch + 1, 0
        if count := self.settings.count_averaged_epochs(state.epoch):
            state.average = update_running_mean(state.average, self.model.state_dict(), count)
        state.loss = state.errors = state.seconds = 0.0

    def _validate(self) -> tuple[float | None, float | None]:
        if self.validation is None:
            return None, None
        inferred = run_inference(self.model, self.validation.bags, self.device, memory=self.memory)
        scores = torch.from_numpy(inferred.scores)
        targets = array_to_tensor(self.validation.targets)
        losses = self.likelihood.loss(scores, targets) * array_to_tensor(self.validation.importance)
        if not losses.isfinite().all():
            name = self.validation.bags.name(int((~losses.isfinite()).int().argmax()))
            subject = f"the loss of validation bag '{name}' is"
            raise InputError(self._describe_divergence(subject, " the values of that bag,"))
        return losses.mean().item(), self.likelihood.errors(scores, targets).mean().item()

    def _check_weights(self) -> None:
        # One sum per parameter is faster to check than every value.
        sums = torch.stack([value.detach().sum() for value in self.model.parameters()])
        if not sums.isfinite().all():
            raise InputError(self._describe_divergence("the weights of the model are", ""))

    def _describe_divergence(self, subject: str, also_check: str) -> str:
        position = f"epoch {self.state.epoch + 1}, batch {self.state.batch + 1}"
        return (
            f"{subject} not finite in {position}; check{also_check} the scale of the features (scaling='clipped'), "
            f"or lower learning_rate (now {self.settings.learning_rate:g}){self._describe_checkpoint()}"
        )

    def _describe_checkpoint(self) -> str:
        """Return the end of an error message, with the path of the last good checkpoint."""
        exists = self.checkpoint is not None and self.checkpoint.path.exists()
        return f"; the last good state is saved in {self.checkpoint.path}" if self.checkpoint and exists else ""

    def _save(self) -> None:
        if self.checkpoint is not None and self.ranks.first:
            self.checkpoint.save(self.state)


def update_running_mean(mean: dict[str, Tensor], values: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """Compute the mean of ``count`` sets of weights from the mean of the earlier ones and the latest set.

    Integer tensors, such as counters, are those of the latest set.

    >>> import torch
    >>> first = update_running_mean({}, {"w": torch.tensor([1.0])}, 1)
    >>> update_running_mean(first, {"w": torch.tensor([4.0])}, 2)
    {'w': tensor([2.5000])}
    """
    return {
        name: value.detach() + (mean[name] - value.detach()) * ((count - 1) / count)
        if count > 1 and value.is_floating_point()
        else value.detach().clone()
        for name, value in values.items()
    }
