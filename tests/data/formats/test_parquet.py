import pyarrow
import pytest
from pyarrow import parquet

from bagwise.data.formats import parquet as parquet_module
from bagwise.data.formats.parquet import open_parquet
from bagwise.errors import InputError
from bagwise.io import optional_packages


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def assert_rejected(path, message):
    with pytest.raises(InputError, match=message), open_parquet(path):
        pass


def test_open_parquet_yields_rows_with_their_numbers(tmp_path):
    path = write(tmp_path / "a.parquet", bag=["a", None], x=[1, 2])
    with open_parquet(path) as table:
        assert table.header == ["bag", "x"]
        assert list(table.rows) == [("row 1", ["a", 1]), ("row 2", [None, 2])]


def test_open_parquet_rejects_a_table_that_declares_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_module, "SMALL_TABLE", 1000)
    path = write(tmp_path / "a.parquet", x=pyarrow.nulls(5_000_000))
    assert_rejected(path, r"a\.parquet declares 5000000 rows")


def test_open_parquet_rejects_nested_columns_and_damage_by_name(tmp_path):
    assert_rejected(write(tmp_path / "a.parquet", x=[{"a": 1, "b": 2}]), r"a\.parquet must have plain columns .*got x")
    (tmp_path / "b.parquet").write_bytes(b"PAR1nonsense")
    assert_rejected(tmp_path / "b.parquet", r"b\.parquet is not a complete parquet file")
    assert_rejected(tmp_path / "c.parquet", r"no such file: .*c\.parquet")


def test_open_parquet_without_pyarrow_names_the_package_to_install(tmp_path, monkeypatch):
    def fail(name):
        raise ImportError(name)

    path = write(tmp_path / "a.parquet", x=[1])
    monkeypatch.setattr(optional_packages.importlib, "import_module", fail)
    assert_rejected(path, r"pip install 'bagwise\[tables\]'")
