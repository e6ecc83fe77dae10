"""The README runs; measured numbers in it and on the page of results are in the files that they link to."""

import contextlib
import re

import numpy as np
import pandas as pd
import pytest

from documented import ROOT, blocks, commands, execute, parse

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)
ROW = re.compile(r"^\| (.+) \| (.+) \| \[table\]\(([^)]+)\) \|$", flags=re.MULTILINE)
PAGES = {"README": TEXT, "results": (ROOT / "docs" / "results.md").read_text(encoding="utf-8")}
MEASURED = [(f"{page}: {row[0]}", *row[1:]) for page, text in PAGES.items() for row in ROW.findall(text)]
PYTHON = [block for block in BLOCKS if block.language == "python"]


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: f"line {block.line}")
def test_python_blocks_run(block, tmp_path):
    table = pd.DataFrame({"molecule": ["a", "a", "b"], "active": [1, 1, 0], "weight": [1.0, 2.0, 3.0]})
    given = {"array_of_bag_1": np.zeros((2, 3)), "array_of_bag_2": np.ones((1, 3)), "frame": table}
    with contextlib.chdir(tmp_path):
        execute(block, "README.md", given)


@pytest.mark.parametrize("words", commands(BLOCKS), ids=" ".join)
def test_commands_parse(words):
    assert parse(words)


@pytest.mark.parametrize(("measured", "where"), [row[1:] for row in MEASURED], ids=[row[0] for row in MEASURED])
def test_measured_numbers_are_in_the_linked_files(measured, where):
    numbers = re.findall(r"\d+\.\d+(?:±\d+\.\d+)?|\d{2,}(?= µs| ms| MB)", measured)
    results = (ROOT / where).read_text(encoding="utf-8")
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", results)] == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_measured_numbers(page):
    assert len(ROW.findall(PAGES[page])) >= 5
