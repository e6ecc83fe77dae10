import numpy as np
import pytest

from bagwise.datasets import DATASETS, load_dataset
from bagwise.datasets.options import check_options
from bagwise.errors import InputError

MADE = ("digits", "needles")


def load(count: int | None = None, share: float = 0.5, word: str = "a", digits: int | list[int] = 9) -> None:
    """A loader with every kind of option."""


@pytest.mark.parametrize(
    "options",
    [
        {"count": 3, "share": 1, "word": "b", "digits": [1, 2]},
        {"count": None, "digits": (3,)},
        {"count": np.int64(3), "share": np.float32(0.5), "digits": np.uint8(3)},
    ],
)
def test_values_of_the_right_kind_pass(options):
    check_options("set", load, options)


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("count", "abc", "a whole number"),
        ("count", 2.5, "a whole number"),
        ("count", True, "a whole number"),
        ("share", "half", "a finite number"),
        ("share", float("nan"), "a finite number"),
        ("share", float("inf"), "a finite number"),
        ("share", 10**400, "a finite number"),
        ("share", None, "a finite number"),
        ("word", 3, "a word"),
        ("digits", [1, "x"], "a whole number or a list of whole numbers"),
        ("digits", [True], "a whole number or a list of whole numbers"),
    ],
)
def test_a_value_of_another_kind_is_shown_with_what_to_give(option, value, wanted):
    with pytest.raises(InputError, match=f"^set: {option} is .*; give {wanted}$") as refused:
        check_options("set", load, {option: value})
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("name", DATASETS)
def test_every_option_of_every_set_has_a_kind_that_can_be_named(name):
    for option in DATASETS[name].load.__annotations__.keys() - {"return"}:
        with pytest.raises(InputError, match=f"^{name}: {option} is .*; give a"):
            load_dataset(name, **{option: {}})


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("options", [{"n_bags": 10**9}, {"n_bags": 10**400}, {"mean_size": 1e300}, {"n_bags": 0}])
def test_impossible_numbers_are_refused_before_anything_is_made(name, options):
    with pytest.raises(InputError):
        load_dataset(name, **options)
