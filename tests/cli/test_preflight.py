import sys

import pytest

from bagwise.cli import preflight
from bagwise.cli.preflight import check_requirements
from bagwise.errors import InputError


@pytest.fixture(autouse=True)
def _empty_home(monkeypatch, tmp_path):
    monkeypatch.setenv("BAGWISE_DATA", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_check_requirements_accepts_available_and_unknown_data(tmp_path):
    (tmp_path / "table.csv").touch()
    check_requirements("digits", "needles", "no such thing", "table.csv", None, engine="auto")


@pytest.mark.parametrize("typed", ["musk1", "MUSK1", "mnist_bags"])
def test_check_requirements_rejects_missing_data_set_with_fetch_command(typed):
    with pytest.raises(InputError, match="fetch it with: bagwise data fetch"):
        check_requirements("digits", typed)


def test_check_requirements_prefers_folder_over_data_set_of_same_name(tmp_path):
    (tmp_path / "musk1").mkdir()
    (tmp_path / "musk1" / "manifest.json").touch()
    check_requirements("musk1")


def test_check_requirements_rejects_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "table.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'bagwise\[tables\]'"):
        check_requirements("table.parquet")


def test_check_requirements_rejects_fused_engine_without_numba(monkeypatch):
    monkeypatch.setattr(preflight, "find_spec", lambda name: None)
    check_requirements(engine="torch")
    with pytest.raises(InputError, match=r"pip install 'bagwise\[fast\]'"):
        check_requirements(engine="fused")
