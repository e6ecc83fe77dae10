"""Progress reports of training: none, or a progress bar in the terminal."""

from typing import Any

from bagwise.training.engines.choice import EngineChoice
from bagwise.training.history import Epoch


class TrainingProgress:
    """Receives the events of a training run and ignores them; subclasses report them.

    A context manager, entered for the duration of the training.
    """

    def __enter__(self) -> "TrainingProgress":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def engine(self, choice: EngineChoice) -> None:
        """Report the engine that was chosen."""

    def start(self, done: int, epochs: int) -> None:
        """Report that training starts, with ``done`` of all ``epochs`` completed earlier."""

    def batch(self, done: int, batches: int) -> None:
        """Report that ``done`` of the ``batches`` of the current epoch are completed."""

    def epoch(self, record: Epoch) -> None:
        """Report a completed epoch."""


class TrainingProgressBar(TrainingProgress):
    """One line of at most 80 columns: completed epochs, remaining time and losses; it remains when training ends.

    Parameters
    ----------
    console : rich.console.Console, optional
        Console to print to. By default that of rich.
    """

    def __init__(self, console: Any = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self.bar = RichProgress(
            TextColumn("training"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
        )

    def __enter__(self) -> "TrainingProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def engine(self, choice: EngineChoice) -> None:
        self.bar.console.print(str(choice), highlight=False)

    def start(self, done: int, epochs: int) -> None:
        self.completed_epochs = done
        self.task = self.bar.add_task("", total=epochs, completed=done, state="")

    def batch(self, done: int, batches: int) -> None:
        self.bar.update(self.task, completed=self.completed_epochs + done / batches)

    def epoch(self, record: Epoch) -> None:
        self.completed_epochs = record.epoch
        state = f"loss {record.loss:.3f}"
        if record.validation_loss is not None:
            state += f", validation {record.validation_loss:.3f}"
        self.bar.update(self.task, completed=record.epoch, state=state)
