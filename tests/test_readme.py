"""What the README says runs."""

import contextlib
import re

import numpy as np
import pandas as pd
import pytest

from documented import ROOT, blocks, commands, execute, parse

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)
MEASURED = re.findall(r"^\| (.+) \| (.+) \| \[table\]\((.+)\) \|$", TEXT, flags=re.MULTILINE)
PYTHON = [block for block in BLOCKS if block.language == "python"]


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: f"line {block.line}")
def test_python_blocks_run(block, tmp_path):
    table = pd.DataFrame({"molecule": ["a", "a", "b"], "active": [1, 1, 0], "weight": [1.0, 2.0, 3.0]})
    given = {"array_of_bag_1": np.zeros((2, 3)), "array_of_bag_2": np.ones((1, 3)), "frame": table}
    with contextlib.chdir(tmp_path):
        execute(block, "README.md", given)


@pytest.mark.parametrize("words", commands(BLOCKS), ids=" ".join)
def test_commands_are_understood(words):
    assert parse(words)


@pytest.mark.parametrize(("measured", "where"), [row[1:] for row in MEASURED], ids=[row[0] for row in MEASURED])
def test_measured_numbers_stand_in_the_file_behind_them(measured, where):
    numbers = re.findall(r"\d+\.\d+(?:±\d+\.\d+)?|\d{2,}(?= µs| ms| MB)", measured)
    results = (ROOT / where).read_text(encoding="utf-8")
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", results)] == []


def test_there_are_measured_numbers():
    assert len(MEASURED) >= 5
