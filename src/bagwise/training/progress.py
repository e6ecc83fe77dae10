"""Who watches a training run: nobody, or a progress bar in the terminal."""

from typing import Any

from bagwise.training.engines.choosing import Choice
from bagwise.training.history import Epoch


class Progress:
    """Watches nothing; subclasses show what happens."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def engine(self, choice: Choice) -> None:
        """Which engine will train, and why."""

    def start(self, done: int, epochs: int) -> None:
        """Training begins, with so many epochs done before."""

    def batch(self, done: int, batches: int) -> None:
        """A batch of the current epoch is done."""

    def epoch(self, record: Epoch) -> None:
        """An epoch is done."""


class ProgressBar(Progress):
    """One line that fits 80 columns: epochs done, time left, losses; it stays when training ends."""

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

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def engine(self, choice: Choice) -> None:
        self.bar.console.print(str(choice), highlight=False)

    def start(self, done: int, epochs: int) -> None:
        self.done = done
        self.task = self.bar.add_task("", total=epochs, completed=done, state="")

    def batch(self, done: int, batches: int) -> None:
        self.bar.update(self.task, completed=self.done + done / batches)

    def epoch(self, record: Epoch) -> None:
        self.done = record.epoch
        state = f"loss {record.loss:.3f}"
        if record.validation_loss is not None:
            state += f", validation {record.validation_loss:.3f}"
        self.bar.update(self.task, completed=record.epoch, state=state)
