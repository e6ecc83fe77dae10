import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.storage import load_bags
from bagwise.writing import BagWriter, write_array


def test_bags_added_one_by_one_are_read_as_one(tmp_path):
    generator = np.random.default_rng(0)
    bags = [generator.normal(size=(size, 3)).astype(np.float32) for size in (2, 1, 5)]
    with BagWriter(tmp_path / "bags", extractor="mine") as writer:
        for number, bag in enumerate(bags):
            writer.add(bag, name=f"bag {number}", label=number % 2, tile_size=256.0, positions=np.zeros((len(bag), 2)))
    again = load_bags(tmp_path / "bags")
    np.testing.assert_array_equal(again.instances, np.concatenate(bags))
    assert again.sizes.tolist() == [2, 1, 5]
    assert again.names.tolist() == ["bag 0", "bag 1", "bag 2"]
    assert again.tile_sizes.tolist() == [256.0] * 3
    assert again.extractor == "mine"


def test_the_header_has_room_for_a_million_rows(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        for _ in range(11):
            writer.add(np.ones((100_000, 1), dtype=np.uint8))
    assert load_bags(tmp_path / "bags").instances.shape == (1_100_000, 1)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"instances": np.zeros((0, 2)), "name": "b"}, "bag 'b' is without instances"),
        ({"instances": np.zeros((1, 3)), "name": "b"}, r"bag 'b' has instances of shape \(3,\), those before \(2,\)"),
        ({"instances": np.full((1, 2), np.nan), "name": "b"}, "bag 'b' has 2 values that are NaN"),
        ({"instances": np.zeros((1, 2)), "name": "b", "label": 1}, "other companions"),
        ({"instances": np.zeros((1, 2)), "name": "b", "colour": 1}, "bags have no colour"),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "positions": np.zeros((2, 2))},
            r"bag 'b': positions has shape \(2, 2\) for 1 instances",
        ),
        ({"instances": np.zeros((1, 2), dtype=complex), "name": "b"}, "bag 'b': instances are complex128; convert"),
        ({"instances": np.zeros((1, 2), dtype=np.longdouble), "name": "b"}, "bag 'b': instances are .*; convert"),
        ({"instances": np.zeros(2), "name": "b"}, r"bag 'b': instances have shape \(2,\)"),
        ({"instances": np.zeros((1, 0)), "name": "b"}, r"bag 'b': .* no features"),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "instance_labels": np.array(["yes"])},
            "bag 'b': instance_labels are <U3; give numbers",
        ),
        ({"instances": np.zeros((1, 2)), "name": "b", "label": None}, "the label of bag 'b' is missing"),
        ({"instances": np.zeros((1, 2)), "name": "b", "label": (1, 2)}, r"bag 'b': labels has shape \(1, 2\)"),
        ({"instances": np.zeros((1, 2)), "name": None}, "bag 'None': the name of bag 0 is missing"),
        ({"instances": np.zeros((1, 2)), "name": "a"}, "names must be unique"),
    ],
)
def test_a_bag_that_does_not_fit_is_refused_and_nothing_remains(tmp_path, second, message):
    with pytest.raises(InputError, match=message), BagWriter(tmp_path / "bags") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2)), name="a")
        writer.add(**second)
    assert list(tmp_path.iterdir()) == []


def test_no_bags_at_all_are_refused(tmp_path):
    with pytest.raises(InputError, match="no bags to write"), BagWriter(tmp_path / "bags"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_instances_of_another_kind_than_before_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds float64, those before uint8"), BagWriter(tmp_path / "bags") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2), dtype=np.uint8))
        writer.add(np.zeros((2, 2)))


def test_labels_of_different_kinds_are_refused_and_nothing_remains(tmp_path):
    with pytest.raises(InputError, match="labels are objects of type int, str"), BagWriter(tmp_path / "b") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2)), label=1)
        writer.add(np.zeros((2, 2)), label="1")
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_written_in_the_byte_order_of_the_machine(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.array([[1, 2]], dtype=">f4"), name=5, positions=np.array([[1, 2]], dtype=">i4"))
    bags = load_bags(tmp_path / "bags")
    assert bags.instances.dtype == np.dtype(np.float32)
    assert (bags.instances.tolist(), bags.positions.tolist(), bags.names.tolist()) == ([[1, 2]], [[1, 2]], ["5"])


@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.zeros(0), np.arange(8.0).reshape(2, 4).T, np.array(3.5), np.eye(3) > 0]
)
def test_an_array_comes_back_as_numpy_reads_it(tmp_path, array):
    write_array(tmp_path / "a.npy", array)
    again = np.load(tmp_path / "a.npy", allow_pickle=False)
    np.testing.assert_array_equal(again, array)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
