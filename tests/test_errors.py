"""The one exception for mistakes that a user can mend."""

import pytest

from bagwise.errors import InputError


def test_an_input_error_is_caught_as_a_value_error_and_keeps_its_message():
    with pytest.raises(ValueError, match="bag 3 is empty; drop it"):
        raise InputError("bag 3 is empty; drop it")
