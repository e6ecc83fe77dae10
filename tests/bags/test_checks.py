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


@pytest.mark.parametrize("dtype", [object, str, complex])
def test_instances_that_are_no_real_numbers_are_refused(dtype):
    with pytest.raises(InputError, match="convert them to numbers"):
        bags_of(instances=np.ones((5, 2)).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, bool])
def test_real_numbers_of_any_type_are_kept_as_they_are(dtype):
    assert bags_of(instances=np.ones((5, 2), dtype)).instances.dtype == dtype


@pytest.mark.parametrize("offsets", [[1, 5], [0, 4], [0, 6], [0], [], [[0, 5]]])
def test_offsets_that_do_not_cover_the_rows_are_refused(offsets):
    with pytest.raises(InputError, match="offsets must run from 0 to the number of instances, 5"):
        Bags(np.ones((5, 2)), np.array(offsets, dtype=int))


def test_falling_offsets_name_the_bag():
    with pytest.raises(InputError, match="offsets fall at bag 1; they must rise"):
        Bags(np.ones((5, 2)), np.array([0, 3, 2, 5]))


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


@pytest.mark.parametrize("rows_at_once", [1, 2, 3, 100])
def test_values_that_are_not_finite_are_found_whatever_the_pieces(monkeypatch, rows_at_once):
    monkeypatch.setattr(checks, "ROWS_AT_ONCE", rows_at_once)
    instances = np.ones((9, 2, 2))
    instances[[4, 5, 8], 0, 1] = np.nan
    with pytest.raises(InputError, match=r"bag 1 has 2 values .* its row 1 \(and 1 more rows in other bags\)"):
        bags_of((3, 4, 2), instances=instances)


@pytest.mark.parametrize("field", ["labels", "names", "groups"])
def test_a_companion_of_bags_must_have_one_value_a_bag(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(3,\) for 2 bags; give one for each, in their order"):
        bags_of(**{field: np.arange(3)})
    with pytest.raises(InputError, match=rf"{field} has shape \(\) for 2 bags"):
        bags_of(**{field: np.array(1)})


@pytest.mark.parametrize("field", ["positions", "instance_labels"])
def test_a_companion_of_instances_must_have_one_value_an_instance(field):
    with pytest.raises(InputError, match=rf"{field} has shape \(2, 2\) for 5 instances; give one for each"):
        bags_of(**{field: np.ones((2, 2))})


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (5, 2, 1)])
def test_positions_must_be_x_and_y(shape):
    with pytest.raises(
        InputError, match=r"positions have shape .* expected \(n_instances, 2\): x, y in level-0 pixels"
    ):
        bags_of(positions=np.ones(shape))


@pytest.mark.parametrize("labels", [np.array([1.0, np.nan]), np.array([0.0, np.inf])])
def test_a_label_that_is_no_number_names_its_bag(labels):
    with pytest.raises(InputError, match=r"the label of bag 1 is (nan|inf); label every bag or drop it"):
        bags_of(labels=labels)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_label_names_its_bag(missing):
    with pytest.raises(InputError, match="the label of bag 'b' is missing; label every bag or drop it"):
        bags_of(labels=np.array(["yes", missing], dtype=object), names=np.array(["a", "b"]))


def test_names_that_occur_twice_are_listed():
    with pytest.raises(InputError, match="bag 'a' is more than once; names must be unique"):
        bags_of(names=np.array(["a", "a"]))
    with pytest.raises(InputError, match="bag 'x', bag 'y' are more than once"):
        bags_of((1, 1, 1, 1, 1), names=np.array(["y", "x", "x", "z", "y"]))


def test_names_that_become_the_same_text_are_the_same():
    with pytest.raises(InputError, match="bag '1' is more than once"):
        bags_of(names=np.array([1, "1"], dtype=object))
