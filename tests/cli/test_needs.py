import sys

import pytest

from bagwise.cli import needs
from bagwise.cli.needs import check_needs
from bagwise.errors import InputError


@pytest.fixture(autouse=True)
def _empty_home(monkeypatch, tmp_path):
    monkeypatch.setenv("BAGWISE_DATA", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_what_is_there_or_is_for_others_to_judge_passes(tmp_path):
    (tmp_path / "table.csv").touch()
    check_needs("digits", "needles", "no such thing", "table.csv", None, engine="auto")


@pytest.mark.parametrize("typed", ["musk1", "MUSK1", "mnist_bags"])
def test_a_data_set_that_was_not_fetched_is_refused_with_the_way_to_fetch_it(typed):
    with pytest.raises(InputError, match="fetch it with: bagwise data fetch"):
        check_needs("digits", typed)


def test_a_folder_of_bags_by_the_name_of_a_data_set_comes_first(tmp_path):
    (tmp_path / "musk1").mkdir()
    (tmp_path / "musk1" / "manifest.json").touch()
    check_needs("musk1")


def test_a_table_whose_reader_is_not_installed_is_refused(tmp_path, monkeypatch):
    (tmp_path / "table.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'bagwise\[tables\]'"):
        check_needs("table.parquet")


def test_an_engine_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    check_needs(engine="torch")
    with pytest.raises(InputError, match=r"pip install 'bagwise\[fast\]'"):
        check_needs(engine="fused")
