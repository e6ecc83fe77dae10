"""``InputError``, and the conversion of other exceptions to it."""

from pathlib import Path

import pytest

from bagwise.errors import InputError, translate_errors


def test_input_error_is_a_value_error_and_keeps_its_message():
    with pytest.raises(ValueError, match="bag 3 is empty; drop it"):
        raise InputError("bag 3 is empty; drop it")


def test_translate_errors_keeps_the_first_line_of_any_error():
    with (
        pytest.raises(InputError, match=r"^a\.h5 is damaged \(first\); copy it again$"),
        translate_errors(Path("a.h5"), "is damaged", "copy it again"),
    ):
        raise RuntimeError("first\nsecond")


def test_translate_errors_passes_an_input_error_unchanged():
    with (
        pytest.raises(InputError, match=r"^bag 3 is empty$"),
        translate_errors(Path("a.h5"), "is damaged", "copy it again"),
    ):
        raise InputError("bag 3 is empty")
