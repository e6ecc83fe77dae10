import pytest

from bagwise.errors import InputError
from bagwise.formats.csv_files import open_csv


def rows(path):
    with open_csv(path) as table:
        return table.header, list(table.rows)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_found_and_blank_lines_are_passed(tmp_path, separator):
    (tmp_path / "a.csv").write_text(f"\ufeffa{separator} b \n1{separator}2\n\n3{separator}4\n", encoding="utf-8")
    assert rows(tmp_path / "a.csv") == (["a", "b"], [("line 2", ["1", "2"]), ("line 4", ["3", "4"])])


def test_what_is_quoted_separates_nothing_and_lines_without_a_word_are_passed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'bag,"size; in; mm;"\r\n"a\nb",2\r\n , \r\n,\r\n   \r\nc,3\r\n')
    header, found = rows(tmp_path / "a.csv")
    assert header == ["bag", "size; in; mm;"]
    assert [cells for _, cells in found] == [["a\nb", "2"], ["c", "3"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n1,2,3\n", "line 2 has 3 cells, the first line 2"),
        (b"a,b,a\n1,2,3\n", "names 'a' more than once"),
        (b"a,,b\n1,2,3\n", "column 2 has no name"),
        (b"a,b\n1,\xff\n", "not text in UTF-8"),
        (b"\x1f\x8b\x08\x00\xff", "not text in UTF-8"),
        (b"PK\x03\x04xl/workbook.xml", "is a spreadsheet or another archive, not text; save the table as csv"),
        (b'a,b\n1,"' + b"x" * 200_000, "is a quote left open"),
        (b"a,b\r\n1,\x002\n", None),
    ],
)
def test_what_is_no_table_is_told(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    if message is None:
        assert rows(tmp_path / "a.csv")[1][0][1] == ["1", "\x002"]
        return
    with pytest.raises(InputError, match=message):
        rows(tmp_path / "a.csv")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv is not a file"):
        rows(tmp_path / "a.csv")
