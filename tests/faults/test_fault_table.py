"""Tests of the table of faults in the documentation: it refers to existing tests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("reference", sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT))))
def test_fault_table_names_existing_tests(reference):
    path, _, test = reference.partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_fault_table_names_a_test_in_every_row():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    assert len(rows) > 25
    assert all("tests/" in row for row in rows[2:])
