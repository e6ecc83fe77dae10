"""What the README says runs."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import bagwise

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
COMMANDS = sorted(set(re.findall(r"^bagwise (\w+) ?(.*?)(?:\s+#.*)?$", TEXT, flags=re.MULTILINE)))


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_blocks_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"molecule": ["a", "a", "b"], "active": [1, 1, 0], "weight": [1.0, 2.0, 3.0]})
    given = {"array_of_bag_1": np.zeros((2, 3)), "array_of_bag_2": np.ones((1, 3)), "frame": table}
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), given)


@pytest.mark.parametrize(("name", "words"), COMMANDS)
def test_commands_know_their_flags(name, words):
    words_before_flags = words.split()[:1] if name == "data" else []  # the one command that has commands of its own
    shown = bagwise(name, *words_before_flags, "--help")
    assert shown.returncode == 0
    for flag in re.findall(r"--[\w-]+", words):
        assert flag in shown.stdout
