"""What a command says: tables for people, one JSON object for scripts, or nothing."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from bagwise.cli.pace import Pace
from bagwise.metric_names import KEY_METRICS, METRICS

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


class Output:
    """Prints to standard output; with ``as_json`` only ``result`` is printed, with ``quiet`` nothing."""

    def __init__(self, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json

    @property
    def talks(self) -> bool:
        return not (self.quiet or self.as_json)

    def say(self, text: str = "") -> None:
        if self.talks:
            typer.echo(text)

    def result(self, content: dict[str, Any]) -> None:
        """The command's result for scripts."""
        if self.as_json:
            typer.echo(json.dumps(content, ensure_ascii=False, default=str))

    def table(self, title: str, rows: Sequence[tuple[str, ...]], header: tuple[str, ...] = ()) -> None:
        """A small table: the first column to the left, numbers to the right."""
        if not self.talks:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(header))
        for number in range(len(rows[0])):
            table.add_column(header[number] if header else "", justify="left" if number == 0 else "right")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))  # never markup: names are the user's
        Console(file=sys.stdout).print(table)

    def metrics(self, metrics: dict[str, Any]) -> None:
        """Metrics of bags with their intervals, of their groups (patients) and of key instances where there are."""
        self._valued(f"{metrics['n_bags']} test bags", metrics["bags"])
        if "groups" in metrics:
            self._valued(f"{metrics['groups']['n_groups']} groups of test bags", metrics["groups"]["metrics"])
        sources = metrics.get("instances", {})
        if sources:
            values = [
                (title, *(_number(found[name]) for found in sources.values()))
                for name, (title, _) in KEY_METRICS.items()
                if name in next(iter(sources.values()))
            ]
            counted = next(iter(sources.values()))["n_bags"]
            self.table(f"key instances, {counted} bags", values, ("mean over bags, by", *sources))

    def _valued(self, title: str, found: dict[str, Any]) -> None:
        rows = [
            (words, _number(found[name]["value"]), _interval(found[name]["interval"]))
            for name, (words, _) in METRICS.items()
            if name in found
        ]
        self.table(title, rows, ("", "value", "95 % interval"))

    @contextlib.contextmanager
    def progress(self, doing: str) -> Iterator[Callable[[int, int], None]]:
        """A bar for as long as the block runs; it is moved by calling ``(done, total)``."""
        if not self.talks:
            yield lambda done, total: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, RenderableColumn, TextColumn

        pace = Pace()
        columns = (TextColumn(doing), BarColumn(bar_width=16), MofNCompleteColumn(), RenderableColumn(pace))
        with contextlib.ExitStack() as shown:
            bar = Progress(*columns)
            task = bar.add_task("", total=None)

            def move(done: int, total: int) -> None:
                pace.hear(done, total)
                if not bar.live.is_started:  # a mistake found before the work begins needs no bar
                    shown.enter_context(bar)
                bar.update(task, completed=done, total=total)

            yield move

    def empty(self, names: Sequence[str]) -> None:
        """Name the bags that were set aside because they have no instance."""
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            self.say(f"set aside, because nothing of them was kept: {', '.join(names[:5])}{more}")

    def wrote(self, path: Path, what: str) -> None:
        self.say(f"wrote {what}: {path}")


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "n/a" if bounds is None else f"{bounds[0]:.3f} – {bounds[1]:.3f}"
