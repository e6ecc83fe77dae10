"""The command line's root: every command is parse → one call → print, and imports what it needs when it runs."""

import typer

app = typer.Typer(
    name="bagwise",
    help="Attention-based deep multiple instance learning: bags in, labels and the instances that decided out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help answers in a third of the time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: bagwise demo",
)


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        import bagwise

        typer.echo(f"bagwise {bagwise.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version."),
) -> None:
    """Hold the options that stand before a command."""
