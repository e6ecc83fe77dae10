"""Limits on declared sizes and on memory."""

import sys
from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.io import memory_limits
from bagwise.io.memory_limits import (
    ALWAYS_ALLOWED,
    MAX_COMPRESSION,
    MAX_NUMERIC_COMPRESSION,
    check_declared_size,
    check_free_memory,
    get_free_memory,
    limit_memory,
)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux measures and limits memory")
def test_limit_memory_makes_a_large_allocation_fail_and_is_lifted_afterwards():
    with limit_memory(1 << 26), pytest.raises(MemoryError):
        bytes(1 << 31)
    assert len(bytearray(1 << 27)) == 1 << 27


@pytest.mark.parametrize("max_ratio", [MAX_COMPRESSION, MAX_NUMERIC_COMPRESSION])
def test_check_declared_size_compares_the_declared_size_with_the_file(max_ratio):
    check_declared_size(Path("a"), ALWAYS_ALLOWED, 0, "rows", max_ratio)
    check_declared_size(Path("a"), max_ratio * 10**6, 10**6, "rows", max_ratio)
    for n_declared in (max_ratio * 10**6 + 1, -1):
        with pytest.raises(InputError, match=f"a declares {n_declared:,} bytes of rows, but contains 1,000,000 bytes"):
            check_declared_size(Path("a"), n_declared, 10**6, "rows", max_ratio)


def test_check_free_memory_uses_the_limit_of_the_machine_or_of_the_container(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 10 kB\n")
    monkeypatch.setattr(memory_limits, "MEMORY_INFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory_limits, "CONTROL_GROUP", tmp_path)
    assert get_free_memory() == 10240
    (tmp_path / "memory.max").write_text("9000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert get_free_memory() == 8000
    check_free_memory(Path("a"), 8000)
    with pytest.raises(InputError, match="a needs 8,001 bytes of memory, but only 8,000 are free"):
        check_free_memory(Path("a"), 8001)
    (tmp_path / "memory.max").write_text("max\n")
    assert get_free_memory() == 10240
    monkeypatch.setattr(memory_limits, "MEMORY_INFO", tmp_path / "nowhere")
    check_free_memory(Path("a"), 10**18)
