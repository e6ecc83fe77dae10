"""The table of faults in the documentation names tests that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", (ROOT / "docs" / "faults.md").read_text(encoding="utf-8"))))


@pytest.mark.parametrize("named", NAMED)
def test_what_proves_a_row_is_there(named):
    path, _, test = named.partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_every_row_is_proven():
    rows = [line for line in (ROOT / "docs" / "faults.md").read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert len(rows) > 25
    assert all("tests/" in row for row in rows[2:])
