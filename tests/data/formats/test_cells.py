from pathlib import Path

import pytest

from bagwise.data.formats.cells import (
    assign_columns,
    check_column,
    format_data_option,
    is_missing_cell,
    parse_labels,
    parse_number,
)
from bagwise.errors import InputError

PATH = Path("table.csv")


@pytest.mark.parametrize("cell", ["", " ", "NaN", "n/a", "NULL", None, float("nan")])
def test_parse_number_rejects_a_missing_cell(cell):
    assert is_missing_cell(cell)
    with pytest.raises(InputError, match="line 3 is empty or NaN"):
        parse_number(cell, "line 3")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("abc", "line 3 is not a number: 'abc'; encode it as a number"),
        ("2,5", "line 3 is not a number: '2,5'; use a decimal point, as in 1234.5"),
        ("1_0", "line 3 is not a number: '1_0'; write it without '_'"),
        ("inf", "line 3 is 'inf'; numbers must be finite"),
    ],
)
def test_parse_number_quotes_the_cell_and_gives_the_fix(cell, message):
    with pytest.raises(InputError, match=message):
        parse_number(cell, "line 3")


def test_parse_number_abbreviates_a_long_cell():
    with pytest.raises(InputError) as caught:
        parse_number("x" * 10_000, "line 3")
    assert len(str(caught.value)) < 200


def test_parse_labels_keeps_the_kind_of_the_labels():
    assert parse_labels(["1", "-2"]).dtype.kind == "i"
    assert parse_labels(["1.5", "2"]).dtype.kind == "f"
    assert parse_labels(["yes", "2"]).tolist() == ["yes", "2"]
    assert parse_labels(["007", "8"]).tolist() == ["007", "8"]
    assert parse_labels(["1.0", "0.0"]).tolist() == [1, 0]
    assert parse_labels(["1.0", "0.0"]).dtype.kind == "i"


def test_parse_labels_keeps_large_numbers_as_text_where_floats_would_merge_them():
    names = ["12345678901234567891", "12345678901234567892"]
    assert parse_labels(names).tolist() == names
    assert parse_labels(["9007199254740993", "0.5"]).tolist() == ["9007199254740993", "0.5"]
    assert parse_labels(["1e300", "2"]).dtype.kind == "f"


def test_assign_columns_recognises_common_names_and_ignores_instance_names():
    found = assign_columns(PATH, ["Slide_ID", "case_id", "instance_id", "Label", "f1", "f2"], {})
    assert found == ("Slide_ID", {"label": "Label"}, "case_id", None, ["f1", "f2"])


def test_assign_columns_prefers_given_names_and_ignores_dropped_columns():
    found = assign_columns(PATH, ["bag", "id", "f1", "f2"], {"bag": "id"}, drop={"bag"})
    assert (found.bag, found.features) == ("id", ["f1", "f2"])


@pytest.mark.parametrize(
    ("header", "given", "drop", "message"),
    [
        (["f1", "f2"], {}, (), r"no column with the bag names; .*--data-option bag=NAME \(columns: f1, f2\)"),
        (["bag", "f1"], {"label": "lable"}, (), r"no column 'lable' \(--data-option label=lable\)"),
        (
            ["bag", "slide_id", "f1"],
            {},
            (),
            r"could be the bag \(bag, slide_id\); .*--data-option bag=bag --data-option drop=slide_id",
        ),
        (
            ["bag", "label", "y", "class"],
            {},
            (),
            r"""could be the label \(.*--data-option label=label --data-option 'drop=\["y", "class"\]'""",
        ),
        (["bag", "f1"], {}, ("f9",), r"no column 'f9' \(--data-option drop=f9\)"),
    ],
)
def test_assign_columns_reports_the_table_and_the_option_that_helps(header, given, drop, message):
    with pytest.raises(InputError, match=f"table.csv has .*{message}"):
        assign_columns(PATH, header, given, drop)


def test_check_column_names_the_option_and_suggests_a_column():
    assert check_column(PATH, ["grade"], "grade", "--label-column grade") == "grade"
    with pytest.raises(InputError, match=r"'grad' \(--label-column grad\); did you mean 'grade'\?"):
        check_column(PATH, ["grade"], "grad", "--label-column grad")


def test_format_data_option_quotes_for_the_shell():
    assert format_data_option("bag", "id") == "--data-option bag=id"
    assert format_data_option("bag", "my id") == "--data-option 'bag=my id'"
