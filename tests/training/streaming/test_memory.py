import pytest
import torch

from bagwise.errors import InputError
from bagwise.training.streaming import memory
from bagwise.training.streaming.memory import granted
from unchecked import unchecked

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("2 gb", 2e9), ("1.5GB", 1.5e9), ("500MB", 5e8), ("10kb", 1e4), ("7", 7), ("1TB", 1e12), (12, 12)],
)
def test_sizes_are_read_as_people_write_them(text, expected):
    assert granted(text, CPU) == expected


@pytest.mark.parametrize("wrong", ["", "GB", "lots", "-2GB", "0", "0.1B", "2GiB", "1e9", "nan"])
def test_other_words_are_refused_with_what_to_give(wrong):
    with pytest.raises(
        InputError, match=r"^memory is '.*; give 'auto', a size as '2GB' or '500MB', or a number of bytes"
    ):
        granted(wrong, CPU)


@pytest.mark.parametrize("wrong", [0, -5, 1.5, True, None])
def test_other_numbers_are_refused(wrong):
    with unchecked(), pytest.raises(InputError, match=r"^memory is .*; it must be a whole number of at least 1"):
        granted(wrong, CPU)


def test_auto_is_a_quarter_of_the_machine_and_no_more_than_its_container_has(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "GROUP_LIMIT", limit)
    machine = granted("auto", CPU)
    assert 1e8 < machine < 1e13
    limit.write_text("4000000\n")
    assert granted("auto", CPU) == 1_000_000
    limit.write_text("max\n")
    assert granted("auto", CPU) == machine


def test_a_system_that_does_not_say_gets_a_fixed_amount(monkeypatch):
    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert granted("auto", CPU) == memory.UNKNOWN // memory.SHARE
