import pytest

from bagwise.errors import InputError
from bagwise.formats.cells import is_missing, number, typed


@pytest.mark.parametrize("cell", ["", " ", "NaN", "n/a", "NULL", None, float("nan")])
def test_a_missing_cell_is_no_number(cell):
    assert is_missing(cell)
    with pytest.raises(InputError, match="line 3 is empty or NaN"):
        number(cell, "line 3")


@pytest.mark.parametrize(
    ("cell", "message"), [("abc", "not a number: 'abc'"), ("1_0", "without '_'"), ("inf", "finite")]
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
    assert typed(["9" * 30, "8"]).dtype.kind == "f"
