"""Conversion of numpydoc docstrings to Markdown: section headings, lists of parameters, and examples as code."""

from collections.abc import Iterator
from typing import Any

import griffe

FENCE = "```"


class MarkdownDocstrings(griffe.Extension):
    """Rewrites the docstring of every object that is shown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = convert_to_markdown(obj.docstring.value)


def convert_to_markdown(docstring: str) -> str:
    """Return a docstring as Markdown."""
    return "\n".join(_convert_lines(docstring.splitlines()))


def _convert_lines(lines: list[str]) -> Iterator[str]:
    section = ""
    in_example = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if in_example and not line:
            in_example = False
            yield FENCE
        if line.startswith(">>> ") and not in_example:
            in_example = True
            yield f"{FENCE}python"
        if in_example:
            yield line
        elif line and following and not following.strip("-"):
            section = line
            yield f"**{section}**"
        elif line and not line.strip("-"):
            yield ""  # the underline of a heading; a list needs an empty line before it
        elif section not in ("", "Examples", "Notes", "References") and line and not line.startswith(" "):
            yield _make_item(line) + ("  " if following.startswith(" ") else "")  # two spaces: a line break
        else:
            yield line
    if in_example:
        yield FENCE


def _make_item(line: str) -> str:
    name, colon, kind = line.partition(" : ")
    return f"- **{name}**: {kind}" if colon else f"- {line}"
