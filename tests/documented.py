"""Documentation that runs: the blocks of a page, in their order, in one namespace and one folder.

Python is executed. Of the blocks marked `bash` every `bagwise` command is run, unless the line above the block says
why it is only parsed: `<!-- parsed only: it needs your slides -->`.
"""

import contextlib
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from command_line import bagwise
from unchecked import unchecked

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^(<!-- parsed only: [^\n]+ -->\n)?```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of a page, and the line it begins at."""

    language: str
    text: str
    line: int
    parsed_only: bool


def blocks(text: str) -> list[Block]:
    """The blocks of a page; a fence that is not understood would be a block that nobody runs."""
    found = [_block(text, match) for match in FENCE.finditer(text)]
    assert 2 * len(found) == len(re.findall(r"^\s*(?:```|~~~)", text, flags=re.MULTILINE)), "a fence is not understood"
    return found


def _block(text: str, match: re.Match[str]) -> Block:
    return Block(match[2], match[3], text.count("\n", 0, match.start(3)) + 1, match[1] is not None)


def commands(found: Iterable[Block]) -> list[list[str]]:
    """The words after `bagwise` of every command in blocks that are no Python."""
    lines = [line for block in found if block.language != "python" for line in _lines(block)]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("bagwise ")]


def _lines(block: Block) -> list[str]:
    return block.text.replace("\\\n", " ").splitlines()


def parse(words: list[str]) -> dict[str, Any]:
    """What the command line understands; it raises where a command, an option or a value is none."""
    from typer.main import get_command

    from bagwise.cli.application import app

    command: Any = get_command(app)
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    return command.make_context(name, words).params


def execute(block: Block, title: str, namespace: dict[str, Any]) -> None:
    """Run a block of Python; an error in it names the page and its line."""
    code = compile("\n" * (block.line - 1) + block.text, title, "exec")
    with unchecked():
        exec(code, namespace)


@contextlib.contextmanager
def registries_kept() -> Iterator[None]:
    """What a page adds to the tables of names is gone with it."""
    from bagwise.data.datasets.registry import DATASETS
    from bagwise.estimators.base import BagEstimator
    from bagwise.estimators.registry import METHODS
    from bagwise.nn.pooling.registry import POOLINGS

    with contextlib.ExitStack() as stack:
        for table in (DATASETS, METHODS, POOLINGS, BagEstimator.kinds):
            stack.enter_context(mock.patch.dict(table))
        yield


def run_page(path: Path, folder: Path) -> None:
    """Everything on a page, as a reader would type it in an empty folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder), registries_kept():
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.language == "python":
                execute(block, str(path), namespace)
            elif block.language == "bash" and not block.parsed_only:
                for words in commands([block]):
                    result = bagwise(*words)
                    assert result.returncode == 0, f"{path}:{block.line} {' '.join(words)}\n{result.stderr}"
