import json

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import (
    DATASETS,
    check_dataset_options,
    describe_bags,
    load_dataset,
    resolve_dataset_name,
)
from bagwise.errors import InputError
from real_data import needs_real_data

GENERATED = [name for name, dataset in DATASETS.items() if dataset.origin is None]
FETCHED = [name for name in DATASETS if name not in GENERATED]
SMALL = [name for name in FETCHED if name not in ("breast-cancer", "colon-cancer")]  # these have their own tests


def load(count: int | None = None, share: float = 0.5, word: str = "a", digits: int | list[int] = 9) -> None:
    """Stand in for a loader with options of every type."""


@pytest.mark.parametrize("name", GENERATED)
def test_load_dataset_generates_labelled_bags(name):
    bags = load_dataset(name.upper(), n_bags=4)
    assert len(bags) == 4
    assert bags.labels is not None


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_real_data(name)) for name in SMALL])
def test_load_dataset_loads_every_fetched_set_in_any_spelling(name):
    bags = load_dataset(name.upper().replace("-", " "))
    assert set(bags.labels.tolist()) == {0, 1}
    assert bags.names is not None


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("options", [{"n_bags": 10**9}, {"n_bags": 10**400}, {"mean_size": 1e300}, {"n_bags": 0}])
def test_load_dataset_rejects_invalid_sizes(name, options):
    with pytest.raises(InputError, match=r"n_bags|mean_size"):
        load_dataset(name, **options)


def test_load_dataset_suggests_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'needles'"):
        load_dataset("needle")
    with pytest.raises(InputError, match="did you mean 'mean_size'"):
        load_dataset("digits", meansize=3)
    with pytest.raises(InputError, match="musk1 has no option 'seed'; it has no options"):
        load_dataset("musk1", seed=3)


@pytest.mark.parametrize("name", DATASETS)
def test_load_dataset_names_the_type_of_every_option(name):
    for option in DATASETS[name].load.__annotations__.keys() - {"return"}:
        with pytest.raises(InputError, match=rf"^{name}: {option} must be an? .*, got {{}}$"):
            load_dataset(name, **{option: {}})


@pytest.mark.parametrize("name", FETCHED)
def test_resolve_dataset_name_accepts_underscores_and_finds_the_origin(name):
    assert DATASETS[name].origin.name == name == resolve_dataset_name(name.replace("-", "_"))


@pytest.mark.parametrize(
    "options",
    [
        {"count": 3, "share": 1, "word": "b", "digits": [1, 2]},
        {"count": None, "digits": (3,)},
        {"count": np.int64(3), "share": np.float32(0.5), "digits": np.uint8(3)},
    ],
)
def test_check_dataset_options_accepts_values_of_the_right_type(options):
    check_dataset_options("set", load, options)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("count", "abc", "an integer"),
        ("count", 2.5, "an integer"),
        ("count", True, "an integer"),
        ("share", "half", "a finite number"),
        ("share", float("nan"), "a finite number"),
        ("share", float("inf"), "a finite number"),
        ("share", 10**400, "a finite number"),
        ("share", None, "a finite number"),
        ("word", 3, "a string"),
        ("digits", [1, "x"], "an integer or a list of integers"),
        ("digits", [True], "an integer or a list of integers"),
    ],
)
def test_check_dataset_options_names_the_option_the_type_and_the_value(option, value, expected):
    with pytest.raises(InputError) as caught:
        check_dataset_options("set", load, {option: value})
    assert str(caught.value).startswith(f"set: {option} must be {expected}, got {repr(value)[:60]}")
    assert len(str(caught.value)) < 150


def test_describe_bags_counts_and_fits_into_json():
    bags = Bags.from_list([[[1.0, 2.0]], [[3.0, 4.0]] * 4], labels=["no", "yes"], groups=["a", "a"])
    counts = json.loads(json.dumps(describe_bags(bags)))
    assert counts["n_bags"] == 2
    assert counts["labels"] == {"no": 1, "yes": 1}
    assert counts["n_instances"] == 5
    assert counts["instance_shape"] == [2]
    assert counts["bag_sizes"] == {"min": 1, "median": 2.5, "mean": 2.5, "max": 4}
    assert counts["n_groups"] == 1
    assert counts["instance_labels"] is None
