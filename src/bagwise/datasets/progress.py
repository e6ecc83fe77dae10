"""Who watches a fetch: nobody, or a progress bar in the terminal."""

from typing import Any


class Progress:
    """Watches nothing; subclasses show what happens."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def start(self, files: int) -> None:
        """So many files are to be fetched."""

    def bytes(self, name: str, done: int, total: int | None) -> None:
        """Bytes of the current file have arrived."""

    def file(self) -> None:
        """A file is whole and in its place."""


class ProgressBar(Progress):
    """One line that fits 80 columns: files done, the current one, and how much of it is there."""

    def __init__(self, console: Any = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        state = TextColumn("{task.fields[state]}", markup=False)
        self.bar = RichProgress(
            TextColumn("fetching"), BarColumn(bar_width=16), MofNCompleteColumn(), state, console=console
        )

    def __enter__(self) -> "ProgressBar":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def start(self, files: int) -> None:
        self.done = 0
        self.task = self.bar.add_task("", total=files, state="")

    def bytes(self, name: str, done: int, total: int | None) -> None:
        share = done / total if total else 0.0
        self.bar.update(self.task, completed=self.done + min(share, 1.0), state=f"{name} {done / 1e6:.1f} MB")

    def file(self) -> None:
        self.done += 1
        self.bar.update(self.task, completed=self.done)
