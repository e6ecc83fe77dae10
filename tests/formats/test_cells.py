import pytest

from bagwise.errors import InputError
from bagwise.formats.cells import is_missing, number, typed


@pytest.mark.parametrize("cell", ["", " ", "NaN", "n/a", "NULL", None, float("nan")])
def test_a_missing_cell_is_no_number(cell):
    assert is_missing(cell)
    with pytest.raises(InputError, match="line 3 is empty or NaN"):
        number(cell, "line 3")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("abc", "not a number: 'abc'"),
        ("2,5", "not a number: '2,5'; write 1234.5, with a point"),
        ("1_0", "without '_'"),
        ("inf", "finite"),
    ],
)
def test_what_is_no_number_is_shown(cell, message):
    with pytest.raises(InputError, match=message):
        number(cell, "line 3")


def test_a_long_cell_is_cut_in_the_message():
    with pytest.raises(InputError) as caught:
        number("x" * 10_000, "line 3")
    assert len(str(caught.value)) < 200


def test_labels_keep_their_kind():
    assert typed(["1", "-2"]).dtype.kind == "i"
    assert typed(["1.5", "2"]).dtype.kind == "f"
    assert typed(["yes", "2"]).tolist() == ["yes", "2"]
    assert typed(["007", "8"]).tolist() == ["007", "8"]
    assert typed(["1.0", "0.0"]).tolist() == [1, 0]
    assert typed(["1.0", "0.0"]).dtype.kind == "i"


def test_large_numbers_are_words_where_a_float_would_merge_them():
    names = ["12345678901234567891", "12345678901234567892"]
    assert typed(names).tolist() == names
    assert typed(["9007199254740993", "0.5"]).tolist() == ["9007199254740993", "0.5"]
    assert typed(["1e300", "2"]).dtype.kind == "f"
