"""The page of commands: what `--help` prints of each, taken from the command line itself."""

from collections.abc import Iterator
from typing import Any

from mkdocs.structure.files import File, Files

OPENING = """# Commands

Every command takes `--help`; most take `--quiet`, and `--json` for scripts. `DATA` is a data set's name, a folder of
bags, a table, or a folder of images. After a mistake, a command prints one paragraph with the
fix and exits with code 2.
"""


def on_files(files: Files, config: Any) -> Files:
    """Add commands.md to the pages."""
    files.append(File.generated(config, "commands.md", content=page()))
    return files


def page() -> str:
    """Each command under its name, with its help."""
    import typer

    from bagwise.cli.application import app

    root = typer.main.get_command(app)
    return OPENING + "".join(f"\n## {name}\n\n```text\n{text}\n```\n" for name, text in helps(root, "bagwise"))


def helps(group: Any, name: str) -> Iterator[tuple[str, str]]:
    """Names and helps of all commands below a group."""
    for word, command in sorted(group.commands.items()):
        full = f"{name} {word}"
        if hasattr(command, "commands"):
            yield from helps(command, full)
        else:
            context = command.make_context(full, [], resilient_parsing=True, max_content_width=100)
            yield full, command.get_help(context).strip()
