"""Split files of CLAM: both kinds are read, and invalid files are rejected."""

from pathlib import Path

import pytest

from bagwise.bags.split_files import read_split_file, strip_slide_name
from bagwise.errors import InputError

WITH_NAMES = ",train,val,test\n0,a,c,d\n1,b,,\n"
WITH_FLAGS = ",train,val,test\na,True,False,False\nb,True,False,False\nc,False,True,False\nd,False,False,True\n"


@pytest.mark.parametrize("content", [WITH_NAMES, WITH_FLAGS])
def test_read_split_file_reads_both_kinds(tmp_path, content):
    (tmp_path / "splits_0.csv").write_text(content)
    splits = read_split_file(tmp_path / "splits_0.csv")
    assert splits == (["a", "b"], ["c"], ["d"])
    assert [part.tolist() for part in splits.rows(["d", "c", "b", "a"], Path("s"))] == [[3, 2], [1], [0]]
    with pytest.raises(InputError, match="lists bags that are not in the data: d"):
        splits.rows(["a", "b", "c"], Path("s"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",train,test\n0,a,b\n", "has no column val"),
        (",train,val,test\n0,a,,a\n", "lists slides more than once: a; list each in one part only"),
        (",train,val,test\n0,,,a\n", "has no training slides"),
        ("", "is empty"),
    ],
)
def test_read_split_file_rejects_incomplete_and_contradictory_files(tmp_path, content, message):
    (tmp_path / "splits_0.csv").write_text(content)
    with pytest.raises(InputError, match=rf"splits_0\.csv {message}"):
        read_split_file(tmp_path / "splits_0.csv")


@pytest.mark.parametrize(
    ("name", "stripped"),
    [
        ("a/b/TCGA-01.abc.SVS", "TCGA-01.abc"),
        ("c:\\slides\\s1.h5", "s1"),
        (" s1 ", "s1"),
        ("s.1", "s.1"),
        (".svs", ".svs"),
    ],
)
def test_strip_slide_name_removes_folders_and_known_extensions(name, stripped):
    assert strip_slide_name(name) == stripped
