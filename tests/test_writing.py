import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.storage import load_bags
from bagwise.writing import BagWriter


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
        ({"instances": np.zeros((1, 2)), "name": "b", "positions": np.zeros((2, 2))}, "2 positions for 1 instances"),
        ({"instances": np.zeros((1, 2), dtype=complex), "name": "b"}, "complex128, those before float64"),
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
