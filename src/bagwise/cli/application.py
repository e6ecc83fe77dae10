"""The root of the command line.

Every command parses its arguments, makes one call and prints the result. It imports what it needs when it runs, so that
``bagwise --help`` answers at once.
"""

from importlib.metadata import version as get_version

import typer

app = typer.Typer(
    name="bagwise",
    help=(
        "Multiple instance learning with attention: train on bags of instances, predict the label of a bag, and show "
        "which instances drove the prediction."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help takes a third of the time
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
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    """Hold the options that precede a command."""
