"""Progress reports of training: none, or a progress bar in the terminal."""

from dataclasses import replace
from typing import TYPE_CHECKING

from bagwise.training.engines.choice import EngineChoice
from bagwise.training.history import Epoch

if TYPE_CHECKING:
    from rich.console import Console


class TrainingProgress:
    """Receiver of progress reports that ignores them; subclasses may show them.

    It is a context manager, which is entered before the first epoch and left after the last.
    """

    def __enter__(self) -> "TrainingProgress":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def engine(self, choice: EngineChoice) -> None:
        """Handle the choice of the engine.

        Parameters
        ----------
        choice : EngineChoice
            The chosen engine.
        """

    def start(self, done: int, epochs: int) -> None:
        """Handle the start of training, or of the training of the next network of several.

        Parameters
        ----------
        done : int
            Number of epochs completed before, by earlier networks or before a resume; 0 for a new run.
        epochs : int
            Total number of epochs, of all networks.
        """

    def batch(self, done: int, batches: int) -> None:
        """Handle the completion of batches.

        Parameters
        ----------
        done : int
            Number of completed batches of the current epoch.
        batches : int
            Total number of batches of the epoch.
        """

    def epoch(self, record: Epoch) -> None:
        """Handle the completion of an epoch.

        Parameters
        ----------
        record : Epoch
            Record of the epoch.
        """


class TrainingProgressBar(TrainingProgress):
    """A progress bar of at most 80 columns: number of completed epochs, remaining time and losses.

    Parameters
    ----------
    console : rich.console.Console or None, default=None
        Console to print to; None means the default console of rich.
    """

    def __init__(self, console: "Console | None" = None) -> None:
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
        self.preparation = ""

    def __enter__(self) -> "TrainingProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def engine(self, choice: EngineChoice) -> None:
        self.bar.console.print(str(choice), highlight=False)
        self.preparation = choice.preparation

    def start(self, done: int, epochs: int) -> None:
        self.completed_epochs = done
        if not self.bar.tasks:
            self.bar.add_task("", total=epochs, completed=done, state=self.preparation)

    def batch(self, done: int, batches: int) -> None:
        task = self.bar.tasks[0]
        state = "" if task.fields["state"] == self.preparation else task.fields["state"]
        self.bar.update(task.id, completed=self.completed_epochs + done / batches, state=state)

    def epoch(self, record: Epoch) -> None:
        self.completed_epochs = record.epoch
        state = f"loss {record.loss:.3f}"
        if record.validation_loss is not None:
            state += f", validation {record.validation_loss:.3f}"
        self.bar.update(self.bar.tasks[0].id, completed=record.epoch, state=state)


class PartProgress(TrainingProgress):
    """The part of a progress that belongs to one of several networks, which are trained one after the other.

    Parameters
    ----------
    whole : TrainingProgress
        Receives the reports of all networks, with epochs counted from the first epoch of the first network.
    number : int
        Number of the network, from 0.
    count : int
        Number of networks.
    """

    def __init__(self, whole: TrainingProgress, number: int, count: int) -> None:
        self.whole = whole
        self.number = number
        self.count = count

    def start(self, done: int, epochs: int) -> None:
        self.earlier_epochs = self.number * epochs
        self.whole.start(self.earlier_epochs + done, self.count * epochs)

    def batch(self, done: int, batches: int) -> None:
        self.whole.batch(done, batches)

    def epoch(self, record: Epoch) -> None:
        self.whole.epoch(replace(record, epoch=self.earlier_epochs + record.epoch))
