"""Names typed by people."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError
from bagwise.names import canonical, choose, nearest
from bagwise.pooling import POOLINGS
from unchecked import unchecked


@pytest.mark.parametrize("typed", ["gated attention", "gated-attention", "GATED_ATTENTION", "  Gated   attention "])
def test_spaces_hyphens_underscores_and_case_mean_the_same(typed):
    assert choose(typed, {"max": 1, "gated attention": 2}, "pooling") == 2


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text("aB -_\tÄİ\n"))
def test_canonical_names_stay_as_they_are(name):
    assert canonical(canonical(name)) == canonical(name)


@pytest.mark.parametrize("name", POOLINGS)
@pytest.mark.parametrize("separator", [" ", "-", "_"])
def test_every_pooling_is_found_with_every_separator(name, separator):
    assert choose(separator.join(canonical(name).split()), POOLINGS, "pooling") is POOLINGS[name]


def test_a_typo_gets_the_nearest_name_as_it_is_written():
    with pytest.raises(InputError, match=r"pooling 'nosy or' is unknown; did you mean 'noisy-or'\?"):
        choose("nosy or", POOLINGS, "pooling")


def test_a_name_like_no_other_gets_all_of_them():
    assert nearest("zzz", ["attention", "max"]) == "choose one of: attention, max"


@pytest.mark.parametrize("value", [0, "", False])
def test_a_value_that_counts_as_false_is_found_all_the_same(value):
    assert choose("max", {"max": value}, "pooling") is value


@pytest.mark.parametrize(("name", "shown"), [(3, "3"), (None, r"None \(NoneType\)"), (["max"], r"\['max'\] \(list\)")])
def test_what_is_no_name_gets_all_of_them(name, shown):
    with unchecked(), pytest.raises(InputError, match=rf"pooling is {shown}; give one of: max, mean$"):
        choose(name, {"max": 1, "mean": 2}, "pooling")
