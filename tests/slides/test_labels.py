import pytest

from bagwise.errors import InputError
from bagwise.slides.labels import Labelled, read_labels, unmatched


def read(tmp_path, text):
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    return read_labels(tmp_path / "labels.csv", "slide_id", "label", "case_id")


def test_numbers_words_and_groups(tmp_path):
    assert read(tmp_path, "slide_id,label\na,0\nb,1\n") == {"a": Labelled(0, None), "b": Labelled(1, None)}
    assert read(tmp_path, "case_id,slide_id,label\np,a,0\np,b, tumour \n") == {
        "a": Labelled("0", "p"),
        "b": Labelled("tumour", "p"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slide,label\na,0\n", "has no column 'slide_id'; it has: slide, label"),
        ("slide_id\na\n", "has no column 'label'"),
        ("slide_id,label\na,\n", "line 2: 'label' is empty"),
        ("slide_id,label,case_id\na,1,p\nb,1,\n", "line 3: 'case_id' is empty"),
        ("slide_id,label\na,1\na,0\n", "line 3: 'a' stands there twice"),
        ("slide_id,label\n", "has no rows"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_names_on_one_side_only_are_told():
    assert unmatched({"a": 1, "b": 2}, ["a", "b"]) == []
    many = [f"slide-{number}" for number in range(7)]
    assert unmatched([], many) == [
        "no label for 'slide-0', 'slide-1', 'slide-2', 'slide-3', 'slide-4' and 2 more",
    ]
