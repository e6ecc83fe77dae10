import pyarrow
import pytest
from pyarrow import parquet

from bagwise.errors import InputError
from bagwise.formats import optional
from bagwise.formats import parquet as parquet_reader
from bagwise.formats.parquet import open_parquet


def write(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_rows_come_as_they_are(tmp_path):
    path = write(tmp_path / "a.parquet", bag=["a", None], x=[1, 2])
    with open_parquet(path) as table:
        assert table.header == ["bag", "x"]
        assert list(table.rows) == [("row 1", ["a", 1]), ("row 2", [None, 2])]


def test_a_table_that_claims_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_reader, "FEW", 1000)
    path = write(tmp_path / "a.parquet", x=pyarrow.nulls(5_000_000))
    with pytest.raises(InputError, match="claims 5000000 rows"), open_parquet(path):
        pass


def test_nested_columns_and_damage_are_refused(tmp_path):
    with (
        pytest.raises(InputError, match="plain columns"),
        open_parquet(write(tmp_path / "a.parquet", x=[{"a": 1, "b": 2}])),
    ):
        pass
    (tmp_path / "b.parquet").write_bytes(b"PAR1nonsense")
    with (
        pytest.raises(InputError, match=r"b\.parquet is not a whole parquet file"),
        open_parquet(tmp_path / "b.parquet"),
    ):
        pass


def test_without_pyarrow_the_way_to_it_is_told(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet", x=[1])
    monkeypatch.setattr(optional.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(InputError, match=r"pip install 'bagwise\[tables\]'"), open_parquet(path):
        pass
