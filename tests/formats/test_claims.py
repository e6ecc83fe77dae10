from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats import claims
from bagwise.formats.claims import MOST_COMPRESSED, NUMBERS_COMPRESSED, SMALL, check_claim, check_memory, free_memory


@pytest.mark.parametrize("most", [MOST_COMPRESSED, NUMBERS_COMPRESSED])
def test_a_claim_is_held_against_what_the_file_holds(most):
    check_claim(Path("a"), SMALL, 0, "rows", most)
    check_claim(Path("a"), most * 10**6, 10**6, "rows", most)
    for claimed in (most * 10**6 + 1, -1):
        with pytest.raises(InputError, match="bytes of rows, but holds"):
            check_claim(Path("a"), claimed, 10**6, "rows", most)


def test_no_more_is_taken_than_is_free(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 10 kB\n")
    monkeypatch.setattr(claims, "SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(claims, "GROUP", tmp_path)
    assert free_memory() == 10240
    (tmp_path / "memory.max").write_text("9000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert free_memory() == 8000
    check_memory(Path("a"), 8000)
    with pytest.raises(InputError, match="a would take 8,001 bytes of memory, and 8,000 are free"):
        check_memory(Path("a"), 8001)
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() == 10240
    monkeypatch.setattr(claims, "SYSTEM", tmp_path / "nowhere")
    check_memory(Path("a"), 10**18)
