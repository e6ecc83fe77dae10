"""Summaries of bags: the numbers are correct, and text from the data is escaped in HTML."""

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from label_kinds import LABELS

SCRIPT = "<script>alert('x')</script>"


def test_describe_in_line_lists_all_fields():
    bags = Bags.from_list(
        [np.zeros((2, 4, 5), np.uint8), np.zeros((5, 4, 5), np.uint8)],
        labels=["no", "yes"],
        names=["first", "second"],
        groups=["p", "p"],
        positions=np.zeros((7, 2)),
        instance_labels=[0, 0, 1, 0, 0, 0, 0],
    )
    assert repr(bags) == (
        "Bags: 2 bags, 7 instances of 4×5 uint8, 2 to 5 per bag (median 3.5); labels no: 1, yes: 1; groups 1; "
        "instance labels 0: 6, 1: 1; names first …; positions x, y"
    )


def test_describe_in_line_omits_missing_fields():
    assert repr(Bags.from_list([[[0.0]]])) == "Bags: 1 bag, 1 instance of 1 float64, 1 to 1 per bag (median 1)"


def test_describe_in_line_lists_at_most_six_labels():
    text = repr(Bags.from_list([[[0.0]]] * 9, labels=np.arange(9)))
    assert "0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, … 9 values" in text
    assert "6: 1" not in text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("unnamed columns", "labels 0: 0 to 9, 1: 1 to 10, 2: 2 to 11"),
        ("named columns", "labels a: 1.5 to 3.5 (2 unknown), b, c: 0.5 to 6.5"),
        ("boolean columns", "labels x: 3 of 4, y: 3 of 4"),
        ("survival", "labels event: 2 of 4, time: 1.5 to 4.5"),
    ],
)
def test_describe_in_line_and_in_html_summarise_labels_of_every_kind(kind, text):
    bags = Bags.from_list([[[0.0]]] * 4, **LABELS[kind](4))
    assert repr(bags).endswith(text)
    assert text.removeprefix("labels ") in bags._repr_html_()
    assert "0 bags" in repr(bags[[]])


def test_describe_in_line_counts_known_labels_and_names_at_most_six():
    labels = np.tile([[1.0], [np.nan]], 8)
    labels[:, 1] = np.nan
    text = repr(Bags.from_list([[[0.0]]] * 2, labels=labels))
    assert "labels 0: 1 of 1 (1 unknown), 1: none (2 unknown), 2: 1 of 1" in text
    assert text.endswith("5: 1 of 1 (1 unknown), … 8 labels")


def test_describe_in_line_and_in_html_accept_an_empty_selection():
    empty = Bags.from_list([[[0.0]]], labels=[1], names=["a"])[[]]
    assert repr(empty).startswith("Bags: 0 bags")
    assert "0 bags" in empty._repr_html_()


def test_describe_in_line_accepts_labels_and_groups_that_are_objects():
    objects = np.array(["no", "yes"], dtype=object)
    text = repr(Bags.from_list([[[0.0]], [[1.0]]], labels=objects, groups=objects))
    assert "labels no: 1, yes: 1; groups 2" in text


@pytest.mark.parametrize("field", ["labels", "names"])
def test_describe_in_html_escapes_text_from_the_data(field):
    html = Bags.from_list([[[0.0]]], **{field: [SCRIPT]})._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_describe_in_html_has_the_content_of_the_line():
    bags = Bags.from_list([[[0.0]], [[1.0], [2.0]]], labels=["no", "yes"], groups=[1, 2])
    html = bags._repr_html_()
    for text in ("2 bags, 3 instances of 1 float64, 1 to 2 per bag (median 1.5)", "no: 1, yes: 1", ">groups<", ">2<"):
        assert text in html
