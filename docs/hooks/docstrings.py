"""Docstrings as the code writes them → Markdown: lists of parameters become lists, examples become code."""

import re
from typing import Any

import griffe

PARAMETER = re.compile(r"^(\w[\w, ]*) : (?=\S)")
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", flags=re.DOTALL)


class PlainDocstrings(griffe.Extension):
    """Rewrites the docstring of every object that is shown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(docstring: str) -> str:
    """A docstring for a page."""
    lines = [PARAMETER.sub(r"- **\1**: ", line) for line in docstring.splitlines()]
    return EXAMPLE.sub(lambda example: f"```python\n{example.group()}\n```", "\n".join(lines))
