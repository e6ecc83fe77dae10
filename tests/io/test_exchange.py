"""Two folders are exchanged in one step, or not at all."""

import sys

import pytest

from bagwise.io import exchange
from bagwise.io.exchange import exchange_folders


@pytest.fixture
def folders(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    return tmp_path / "first", tmp_path / "second"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has renameat2")
def test_exchange_folders_exchanges_their_content(folders):
    first, second = folders
    assert exchange_folders(first, second)
    assert (first / "second").exists()
    assert (second / "first").exists()


def test_exchange_folders_changes_nothing_if_one_is_missing(folders):
    first, second = folders
    assert not exchange_folders(first, second.with_name("third"))
    assert (first / "first").exists()


def test_exchange_folders_returns_false_without_support(folders, monkeypatch):
    monkeypatch.setattr(exchange.ctypes, "CDLL", lambda *_, **__: object())
    assert not exchange_folders(*folders)
