from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats.split_files import read_splits

SLIDES = ",train,val,test\n0,a,c,d\n1,b,,\n"
TRUTHS = ",train,val,test\na,True,False,False\nb,True,False,False\nc,False,True,False\nd,False,False,True\n"


@pytest.mark.parametrize("content", [SLIDES, TRUTHS])
def test_both_kinds_say_the_same(tmp_path, content):
    (tmp_path / "splits_0.csv").write_text(content)
    splits = read_splits(tmp_path / "splits_0.csv")
    assert splits == (["a", "b"], ["c"], ["d"])
    assert [part.tolist() for part in splits.rows(["d", "c", "b", "a"], Path("s"))] == [[3, 2], [1], [0]]
    with pytest.raises(InputError, match="names bags that are not in the data: d"):
        splits.rows(["a", "b", "c"], Path("s"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",train,test\n0,a,b\n", "has no column val"),
        (",train,val,test\n0,a,,a\n", r"a slide twice, or none to train on \(a\)"),
        (",train,val,test\n0,,,a\n", "none to train on"),
        ("", "is empty"),
    ],
)
def test_bad_splits_are_told(tmp_path, content, message):
    (tmp_path / "splits_0.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        read_splits(tmp_path / "splits_0.csv")
