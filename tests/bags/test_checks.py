"""What Bags refuse: every message names the bag and says what to do."""

import numpy as np
import pytest

from bagwise.bags import Bags, checks
from bagwise.errors import InputError


def bags_of(sizes=(2, 3), instances=None, **companions):
    instances = np.ones((sum(sizes), 2)) if instances is None else instances
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), **companions)


def test_flat_instances_are_refused_with_the_reshape():
    with pytest.raises(InputError, match=r"shape \(5,\).*reshape to \(n_instances, 1\)"):
        bags_of(instances=np.ones(5))


@pytest.mark.parametrize("dtype", [object, str, complex, "datetime64[s]", np.longdouble])
def test_instances_that_are_no_real_numbers_of_64_bits_are_refused(dtype):
    with pytest.raises(InputError, match=r"instances are .*; convert them to numbers \(float32, uint8 …\)"):
        bags_of(instances=np.ones((5, 2), dtype=int).astype(dtype))


def test_instances_without_features_are_refused():
    with pytest.raises(InputError, match=r"instances have shape \(5, 0\), hence no features; give them at least one"):
        bags_of(instances=np.ones((5, 0)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, bool])
def test_real_numbers_of_any_type_are_kept_as_they_are(dtype):
    assert bags_of(instances=np.ones((5, 2), dtype)).instances.dtype == dtype


@pytest.mark.parametrize("offsets", [[1, 5], [0, 4], [0, 6], [0], [], [[0, 5]]])
def test_offsets_that_do_not_cover_the_rows_are_refused(offsets):
    with pytest.raises(InputError, match="offsets must run from 0 to the number of instances, 5, in whole numbers"):
        Bags(np.ones((5, 2)), np.array(offsets, dtype=int))


@pytest.mark.parametrize("offsets", [[0.0, 2.5, 5.0], ["0", "5"], [0, None, 5], [0.0, np.nan, 5.0]])
def test_offsets_that_are_no_whole_numbers_are_refused(offsets):
    with pytest.raises(InputError, match="offsets must run from 0 to the number of instances, 5, in whole numbers"):
        Bags(np.ones((5, 2)), np.array(offsets))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_falling_offsets_name_the_bag(dtype):
    with pytest.raises(InputError, match="offsets fall at bag 1; they must rise"):
        Bags(np.ones((5, 2)), np.array([0, 3, 2, 5], dtype))


def test_empty_bags_are_named_and_to_be_dropped():
    with pytest.raises(InputError, match="bag 'b' is without instances; drop empty bags before building Bags"):
        bags_of((2, 0, 3), names=np.array(["a", "b", "c"]))
    with pytest.raises(InputError, match="bag 0, bag 2 are without instances"):
        bags_of((0, 5, 0))


def test_many_empty_bags_are_named_five_at_most():
    with pytest.raises(InputError, match="bag 1, bag 2, bag 3, bag 4, bag 5 and 2 more are without"):
        bags_of((1, 0, 0, 0, 0, 0, 0, 0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_with_bag_row_and_count(value):
    instances = np.ones((5, 2))
    instances[3, 1] = value
    with pytest.raises(
        InputError, match="bag 1 has 1 value that is NaN or infinite, first in its row 1; fill them in or"
    ):
        bags_of(instances=instances)
    instances[4] = value
    with pytest.raises(InputError, match="bag 'b' has 3 values that are NaN or infinite, first in its row 1; fill"):
        bags_of(instances=instances, names=np.array(["a", "b"]))
    instances[0, 0] = value
    with pytest.raises(InputError, match=r"bag 0 has 1 value .* its row 0 \(and 2 more rows in other bags\)"):
        bags_of(instances=instances)


@pytest.mark.parametrize("values_at_once", [1, 4, 9, 400])
def test_values_that_are_not_finite_are_found_whatever_the_pieces(monkeypatch, values_at_once):
    monkeypatch.setattr(checks, "VALUES_AT_ONCE", values_at_once)
    instances = np.ones((9, 2, 2))
    instances[[4, 5, 8], 0, 1] = np.nan
    with pytest.raises(InputError, match=r"bag 1 has 2 values .* its row 1 \(and 1 more rows in other bags\)"):
        bags_of((3, 4, 2), instances=instances)
