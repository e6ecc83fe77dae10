"""Validation of arguments: valid values are converted exactly; errors contain the name, the value and the bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.arguments import (
    canonicalize_name,
    check_bool,
    check_duration,
    check_real_number,
    check_whole_number,
    choose_by_name,
    describe_value,
    suggest_name,
)
from bagwise.errors import InputError
from bagwise.nn.pooling.registry import POOLINGS
from unchecked import unchecked

NOT_NUMBERS = ["3", "a", None, True, np.True_, [3], 3j, np.array([3]), torch.tensor(3), object]


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_check_whole_number_returns_an_int(value):
    assert check_whole_number("epochs", value, minimum=3) == 3
    assert type(check_whole_number("epochs", value, minimum=3)) is int


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 1.5, 3.0, np.float64(3), math.nan, math.inf, 2, -3])
def test_check_whole_number_rejects_other_types_and_values_below_the_minimum(value):
    with pytest.raises(InputError, match=r"epochs is .*; it must be a whole number of at least 3"):
        check_whole_number("epochs", value, minimum=3)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_check_real_number_returns_a_float(value):
    assert check_real_number("dropout", value, minimum=0, below=1) == 0.5
    assert type(check_real_number("dropout", value, minimum=0, below=1)) is float
    assert check_real_number("dropout", 2) == 2


@pytest.mark.parametrize("value", [*NOT_NUMBERS, math.nan, math.inf, -math.inf, np.float32("nan"), 10**400])
def test_check_real_number_rejects_what_is_not_a_finite_number(value):
    with pytest.raises(InputError, match=r"slope is .*; it must be a number above 0"):
        check_real_number("slope", value, above=0)
    with pytest.raises(InputError, match=r"slope is .*; it must be a finite number"):
        check_real_number("slope", value)


def test_check_real_number_includes_minimum_and_excludes_above_and_below():
    assert check_real_number("p", 0, minimum=0) == 0
    for value, bounds in ((-1e-9, {"minimum": 0}), (0, {"above": 0}), (1, {"below": 1})):
        (keyword, bound), *_ = bounds.items()
        with pytest.raises(InputError, match=f"it must be a number {keyword.replace('minimum', 'at least')} {bound}"):
            check_real_number("p", value, **bounds)


@pytest.mark.parametrize(
    ("value", "seconds"), [("90s", 90), ("10m", 600), ("1.5 h", 5400), ("2D", 172800), ("45", 45), (0.5, 0.5)]
)
def test_check_duration_returns_seconds(value, seconds):
    assert check_duration("budget", value) == seconds


@pytest.mark.parametrize(
    "value", ["", "m", "ten minutes", "10 weeks", "-3s", "0m", "nan", "inf", 0, -1, True, None, [5]]
)
def test_check_duration_rejects_what_is_no_duration_above_zero(value):
    with pytest.raises(InputError, match=r"budget is .*; it must be a duration such as 90s, 10m or 2h"):
        check_duration("budget", value)


def test_check_bool_rejects_strings_and_numbers():
    assert check_bool("flag", np.bool_(True)) is True
    assert check_bool("flag", False) is False
    for value in ("no", 0, None):
        with pytest.raises(InputError, match=r"flag is .*; it must be True or False"):
            check_bool("flag", value)


@pytest.mark.parametrize("typed", ["gated attention", "gated-attention", "GATED_ATTENTION", "  Gated   attention "])
def test_choose_by_name_ignores_case_and_treats_spaces_hyphens_and_underscores_alike(typed):
    assert choose_by_name(typed, {"max": 1, "gated attention": 2}, "pooling") == 2


@pytest.mark.parametrize("name", POOLINGS)
@pytest.mark.parametrize("separator", [" ", "-", "_"])
def test_choose_by_name_finds_every_pooling_with_every_separator(name, separator):
    assert choose_by_name(separator.join(canonicalize_name(name).split()), POOLINGS, "pooling") is POOLINGS[name]


def test_choose_by_name_suggests_the_closest_name_as_it_is_written():
    with pytest.raises(InputError, match=r"pooling 'nosy or' is unknown; did you mean 'noisy-or'\?"):
        choose_by_name("nosy or", POOLINGS, "pooling")


@pytest.mark.parametrize("value", [0, "", False])
def test_choose_by_name_returns_values_that_are_false(value):
    assert choose_by_name("max", {"max": value}, "pooling") is value


@pytest.mark.parametrize(("name", "shown"), [(3, "3"), (None, r"None \(NoneType\)"), (["max"], r"\['max'\] \(list\)")])
def test_choose_by_name_lists_all_names_for_a_value_that_is_not_a_string(name, shown):
    with unchecked(), pytest.raises(InputError, match=rf"pooling is {shown}; choose one of: max, mean$"):
        choose_by_name(name, {"max": 1, "mean": 2}, "pooling")


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text("aB -_\tÄİ\n"))
def test_canonicalize_name_is_idempotent(name):
    assert canonicalize_name(canonicalize_name(name)) == canonicalize_name(name)


def test_suggest_name_lists_all_names_if_none_is_close():
    assert suggest_name("zzz", ["attention", "max"]) == "choose one of: attention, max"


def test_describe_value_shows_a_number_as_it_is_and_the_type_of_anything_else():
    assert describe_value(np.float32(0.5)) == "0.5"
    assert describe_value("3") == "'3' (str)"
    assert describe_value(None) == "None (NoneType)"
    assert len(describe_value("x" * 1000)) < 80
