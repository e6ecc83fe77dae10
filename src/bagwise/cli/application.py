"""The root of the command line.

Every command parses its arguments, calls the library and prints the result. Imports are inside the commands, so that
``bagwise --help`` is fast.
"""

from importlib.metadata import version as get_version
from typing import Any

import typer
from typer.core import TyperGroup

ORDER = (
    *("demo", "train", "evaluate", "predict", "explain", "report", "view", "compare"),
    *("data", "import", "tile", "extract", "check", "doctor", "export", "adopt", "reproduce", "bench"),
)


class OrderedGroup(TyperGroup):
    """Lists the commands in the order in which they are commonly used; commands that are not in ``ORDER`` come last."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    name="bagwise",
    cls=OrderedGroup,
    help=(
        "Multiple instance learning with attention: train on bags of instances, predict the label of a bag, and show "
        "which instances drove the prediction."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help is three times as fast
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: bagwise demo",
)


def show_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        typer.echo(f"bagwise {get_version('bagwise')}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=show_version, is_eager=True, help="Print the version and exit. [default: no]"
    ),
) -> None:
    """Define the options that precede a command."""
