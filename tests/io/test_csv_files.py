"""Csv files: separators, blank lines, and the errors for files that are not tables."""

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.io.csv_files import PlainRow, open_csv, open_csv_lines, read_csv, write_csv


def read_table(path):
    with open_csv(path) as table:
        return table.header, list(table.rows)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_open_csv_finds_the_separator_and_skips_blank_lines(tmp_path, separator):
    (tmp_path / "a.csv").write_text(f"\ufeffa{separator} b \n1{separator}2\n\n3{separator}4\n", encoding="utf-8")
    assert read_table(tmp_path / "a.csv") == (["a", "b"], [("line 2", ["1", "2"]), ("line 4", ["3", "4"])])


def test_open_csv_ignores_separators_in_quotes_and_lines_without_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'bag,"size; in; mm;"\r\n"a\nb",2\r\n , \r\n,\r\n   \r\nc,3\r\n')
    header, rows = read_table(tmp_path / "a.csv")
    assert header == ["bag", "size; in; mm;"]
    assert [cells for _, cells in rows] == [["a\nb", "2"], ["c", "3"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n1,2,3\n", "line 2 has 3 cells, but the first line has 2; correct it"),
        (b"a,b,a\n1,2,3\n", "names 'a' more than once"),
        (b"a,,b\n1,2,3\n", "column 2 has no name"),
        (b"a,b\n1,\xff\n", "not text in UTF-8"),
        (b"\x1f\x8b\x08\x00\xff", "not text in UTF-8"),
        (b"PK\x03\x04xl/workbook.xml", "is a spreadsheet or another archive, not text; save the table as csv"),
        (b'a,b\n1,"' + b"x" * 200_000, "check for an unclosed quote"),
    ],
)
def test_open_csv_rejects_what_is_not_a_table(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.csv.*{message}"):
        read_table(tmp_path / "a.csv")


def test_open_csv_keeps_null_characters(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\r\n1,\x002\n")
    assert read_table(tmp_path / "a.csv")[1][0][1] == ["1", "\x002"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.text('ab ,;"\n\t', max_size=4), min_size=2, max_size=2)), st.sampled_from(",;\t"))
def test_open_csv_lines_equals_the_reader_of_python(rows, separator):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator).writerows([["x", "y"], *rows])
    expected = [row for row in rows if any(cell.strip() for cell in row)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(stream.getvalue().encode())
        with open_csv_lines(path) as table:
            lines = [cells for _, cells in table.rows]
        assert [list(cells) for cells in lines] == expected
        assert [[cells[0], cells[1]] for cells in lines] == expected
        assert [cells for _, cells in read_table(path)[1]] == expected


def test_plain_row_splits_a_line_at_any_cell():
    row = PlainRow("a,,c,d,", ",")
    assert [row[index] for index in range(len(row))] == list(row) == ["a", "", "c", "d", ""]
    with pytest.raises(IndexError, match="no cell 5"):
        row[5]


def test_open_csv_names_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"^no such file: .*a\.csv; check the path$"):
        read_table(tmp_path / "a.csv")
    with pytest.raises(InputError, match=" is not a file; check the path"):
        read_table(tmp_path)


@pytest.mark.parametrize("rows", [[], [{"bag": 'a, "b"\n', "score": 1 / 3}, {"bag": "ü", "score": 1e-300}]])
def test_read_csv_returns_what_write_csv_wrote(tmp_path, rows):
    write_csv(tmp_path / "a.csv", iter(rows))
    assert read_csv(tmp_path / "a.csv") == [{name: str(value) for name, value in row.items()} for row in rows]
