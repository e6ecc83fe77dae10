import pytest

from bagwise.data.slides.bag_labels import BagLabel, convert_whole_numbers, find_unmatched, read_bag_labels
from bagwise.errors import InputError


def read_text(tmp_path, text):
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    return read_bag_labels(tmp_path / "labels.csv", "slide_id", "label", "case_id")


def test_read_bag_labels_reads_numbers_text_and_groups(tmp_path):
    assert read_text(tmp_path, "slide_id,label\na,0\nb,1\n") == {"a": BagLabel(0, None), "b": BagLabel(1, None)}
    assert read_text(tmp_path, "case_id,slide_id,label\np,a,0\np,b, tumour \n") == {
        "a": BagLabel("0", "p"),
        "b": BagLabel("tumour", "p"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slide,label\na,0\n", r"has no column 'slide_id' \(columns: slide, label\)"),
        ("slide_id\na\n", "has no column 'label'"),
        ("slide_id,label\na,\n", "line 2: column 'label' is empty"),
        ("slide_id,label,case_id\na,1,p\nb,1,\n", "line 3: column 'case_id' is empty"),
        ("slide_id,label\na,1\na,0\n", "line 3: 'a' occurs twice in column 'slide_id'"),
        ("slide_id,label\n", "has no rows"),
    ],
)
def test_read_bag_labels_reports_the_file_and_the_line(tmp_path, text, message):
    with pytest.raises(InputError, match=f"labels.csv.*{message}"):
        read_text(tmp_path, text)


def test_convert_whole_numbers_converts_all_or_none():
    assert convert_whole_numbers(["0", "-3"]) == [0, -3]
    assert convert_whole_numbers(["0", "0.5"]) == ["0", "0.5"]


def test_find_unmatched_lists_names_on_one_side_only():
    assert find_unmatched({"a": 1, "b": 2}, ["a", "b"]) == []
    many = [f"slide-{number}" for number in range(7)]
    assert find_unmatched([], many) == [
        "no label for 'slide-0', 'slide-1', 'slide-2', 'slide-3', 'slide-4' and 2 more",
    ]
