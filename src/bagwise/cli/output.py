"""The output of a command: tables for people, one JSON object for scripts, or nothing."""

import contextlib
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bagwise.targets import Target

MAX_NAMES = 5
MAX_METRICS = 4  # of a table that has to fit 80 columns

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only. [default: no]")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text. [default: no]")]


class Output:
    """Prints to standard output.

    Parameters
    ----------
    quiet : bool
        Print nothing.
    as_json : bool
        Print only the result, as one JSON object.
    """

    def __init__(self, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json

    @property
    def is_verbose(self) -> bool:
        """Whether text for people is printed."""
        return not (self.quiet or self.as_json)

    def print(self, text: str = "") -> None:
        if self.is_verbose:
            typer.echo(text)

    def print_result(self, content: dict[str, Any]) -> None:
        """Print the result of the command for scripts."""
        if self.as_json:
            typer.echo(json.dumps(content, ensure_ascii=False, default=str))

    def print_written(self, path: Path, content: str) -> None:
        self.print(f"wrote {content}: {path}")

    def print_empty_bags(self, names: Sequence[str]) -> None:
        """List the bags that were left out because they have no instances."""
        if names:
            more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
            self.print(f"left out because they have no instances: {', '.join(names[:MAX_NAMES])}{more}")

    def print_table(self, title: str, rows: Sequence[tuple[str, ...]], header: tuple[str, ...] = ()) -> None:
        """Print a small table with the first column aligned left and the others right."""
        if not self.is_verbose:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(header))
        for number in range(len(rows[0])):
            table.add_column(header[number] if header else "", justify="left" if number == 0 else "right")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))  # plain text, because names may look like rich markup
        Console(file=sys.stdout).print(table)

    def print_metrics(self, metrics: dict[str, Any], target: "Target") -> None:
        """Print the metrics of bags with their intervals, and of groups and key instances if there are any."""
        from bagwise.targets import KEY_METRICS

        self._print_values(f"{metrics['n_bags']} test bags", metrics["bags"], target)
        if "groups" in metrics:
            title = f"{metrics['groups']['n_groups']} groups of test bags"
            self._print_values(title, metrics["groups"]["metrics"], target)
        self.print_note(target.metrics_note)
        sources = metrics.get("instances", {})
        if sources:
            first = next(iter(sources.values()))
            rows = [
                (title, *(_format_number(values[name]) for values in sources.values()))
                for name, (title, _) in KEY_METRICS.items()
                if name in first
            ]
            title = f"key instances, mean over {first['n_bags']} bags unless pooled"
            self.print_table(title, rows, ("", *(f"by {source}" for source in sources)))

    def print_screening(self, screening: list[dict[str, Any]], target: "Target") -> None:
        """Print the methods that were tried, with their weights and their metrics of held-out training bags."""
        if not screening:
            return
        metrics = [target.metrics[name] for name in target.main_metrics[:MAX_METRICS]]
        rows = [
            (row["method"], *(_format_number(row[name]) for name in ("weight", *(metric.name for metric in metrics))))
            for row in sorted(screening, key=lambda row: -row["weight"])
        ]
        header = ("method", "weight", *(metric.title for metric in metrics))
        self.print_table("screening, on held-out training bags", rows, header)
        names = ",".join(row["method"] for row in screening)
        self.print(f"repeat this screening with: --screen {shlex.quote(names)}")

    def print_note(self, note: str) -> None:
        """Print a sentence below a table, unless it is empty."""
        if note:
            self.print(note)

    def _print_values(self, title: str, values: dict[str, Any], target: "Target") -> None:
        rows = [
            (
                metric.title,
                _format_number(values[metric.name]["value"]),
                _format_interval(values[metric.name]["interval"]),
            )
            for metric in target.shown_metrics
            if metric.name in values
        ]
        self.print_table(title, rows, ("", "value", "95 % interval"))

    @contextlib.contextmanager
    def show_progress(self, unit: str) -> Iterator[Callable[[int, int], None]]:
        """Show a progress bar within the block; the yielded function updates it with ``(done, total)``."""
        if not self.is_verbose:
            yield lambda done, total: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, RenderableColumn, TextColumn

        remaining = RemainingTime()
        columns = (TextColumn(unit), BarColumn(bar_width=16), MofNCompleteColumn(), RenderableColumn(remaining))
        with contextlib.ExitStack() as stack:
            bar = Progress(*columns)
            task = bar.add_task("", total=None)

            def update(done: int, total: int) -> None:
                remaining.update(done, total)
                if not bar.live.is_started:  # not before the first update, so that early errors show no bar
                    stack.enter_context(bar)
                bar.update(task, completed=done, total=total)

            yield update

    def print_units_elsewhere(self, elsewhere: dict[str, str], folder: Path) -> None:
        """Print which units other commands are processing, and what to do next."""
        for name, owner in elsewhere.items():
            self.print(f"{name} is being processed by {owner}")
        self.print("nothing packed yet: run the same command again when they are finished")
        self.print(f"if one of them died on another machine, first remove its .lock file below {folder}")


class RemainingTime:
    """Estimates the remaining time from the mean speed since the start.

    Units can take seconds or minutes, and several processes may finish at the same time. The speed of the last half
    minute, which progress bars commonly use, then gives estimates that are far too low.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: tuple[float, int] | None = None  # time of the first update, and units done by then
        self._last = (0.0, 0, 0)  # time of the last update, units done, total units

    def update(self, done: int, total: int) -> None:
        now = self._clock()
        self._start = self._start or (now, done)
        self._last = (now, done, total)

    def seconds(self) -> float | None:
        """Return the estimate in seconds, or None before the first unit is done.

        It counts down until the next unit is done, and increases if that unit takes longer than expected.
        """
        if self._start is None:
            return None
        (started, done_before), (updated, done, total) = self._start, self._last
        remaining, done_now = total - done, done - done_before
        if remaining == 0:
            return 0.0
        if done_now == 0:
            return None
        now = self._clock()
        expected = (updated - started) / done_now * remaining - (now - updated)
        at_best = (now - started) / (done_now + 1) * (remaining - 1)  # as if the next unit were done right now
        return max(expected, at_best, 0.0)

    def __rich__(self) -> str:
        """Return the text in the progress bar: hours, minutes, seconds."""
        seconds = self.seconds()
        text = "-:--:--" if seconds is None else str(timedelta(seconds=int(seconds)))
        return f"[progress.remaining]{text}"


def _format_number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _format_interval(bounds: tuple[float, float] | None) -> str:
    return "n/a" if bounds is None else f"{bounds[0]:.3f} – {bounds[1]:.3f}"
