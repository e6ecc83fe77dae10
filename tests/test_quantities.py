"""Numbers given by people: what passes keeps its value, what does not is named with the bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.quantities import real_number, shown, whole_number, yes_or_no

NO_NUMBERS = ["3", "a", None, True, np.True_, [3], 3j, np.array([3]), torch.tensor(3), object]


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_any_make_become_an_int(value):
    assert whole_number("epochs", value, least=3) == 3
    assert type(whole_number("epochs", value, least=3)) is int


@pytest.mark.parametrize("value", [*NO_NUMBERS, 1.5, 3.0, np.float64(3), math.nan, math.inf, 2, -3])
def test_what_is_no_whole_number_or_too_small_is_refused(value):
    with pytest.raises(InputError, match=r"epochs is .*; it must be a whole number of at least 3"):
        whole_number("epochs", value, least=3)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_numbers_of_any_make_become_a_float(value):
    assert real_number("dropout", value, least=0, below=1) == 0.5
    assert type(real_number("dropout", value, least=0, below=1)) is float
    assert real_number("dropout", 2) == 2


@pytest.mark.parametrize("value", [*NO_NUMBERS, math.nan, math.inf, -math.inf, np.float32("nan"), 10**400])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(InputError, match=r"slope is .*; it must be a number above 0"):
        real_number("slope", value, above=0)
    with pytest.raises(InputError, match=r"slope is .*; it must be a finite number"):
        real_number("slope", value)


def test_each_bound_is_open_or_closed_as_it_says():
    assert real_number("p", 0, least=0) == 0
    for value, bounds in ((-1e-9, {"least": 0}), (0, {"above": 0}), (1, {"below": 1})):
        (word, bound), *_ = bounds.items()
        with pytest.raises(InputError, match=f"it must be a number {word.replace('least', 'at least')} {bound}"):
            real_number("p", value, **bounds)


def test_a_message_shows_a_number_as_it_is_and_the_type_of_anything_else():
    assert (shown(np.float32(0.5)), shown("3"), shown(None)) == ("0.5", "'3' (str)", "None (NoneType)")
    assert len(shown("x" * 1000)) < 80


def test_yes_and_no_are_no_words_and_no_numbers():
    assert yes_or_no("it", np.bool_(True)) is True
    assert yes_or_no("it", False) is False
    for value in ("no", 0, None):
        with pytest.raises(InputError, match=r"it is .*give True or False"):
            yes_or_no("it", value)
