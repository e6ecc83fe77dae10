"""A folder of bags is written one bag at a time, and inconsistent bags are rejected by name."""

import numpy as np
import pytest

from bagwise.bags.bag_writer import BagWriter
from bagwise.bags.folder import load_bags
from bagwise.errors import InputError
from label_kinds import LABELS


def test_bag_writer_appends_bags_one_at_a_time(tmp_path):
    generator = np.random.default_rng(0)
    bags = [generator.normal(size=(size, 3)).astype(np.float32) for size in (2, 1, 5)]
    with BagWriter(tmp_path / "bags", extractor="resnet50") as writer:
        for number, bag in enumerate(bags):
            writer.add(bag, name=f"bag {number}", label=number % 2, tile_size=256.0, positions=np.zeros((len(bag), 2)))
    loaded = load_bags(tmp_path / "bags")
    np.testing.assert_array_equal(loaded.instances, np.concatenate(bags))
    assert loaded.sizes.tolist() == [2, 1, 5]
    assert loaded.names.tolist() == ["bag 0", "bag 1", "bag 2"]
    assert loaded.tile_sizes.tolist() == [256.0] * 3
    assert loaded.extractor == "resnet50"


def test_bag_writer_has_space_in_the_header_for_a_million_rows(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        for _ in range(11):
            writer.add(np.ones((100_000, 1), dtype=np.uint8))
    assert load_bags(tmp_path / "bags").instances.shape == (1_100_000, 1)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"instances": np.zeros((0, 2)), "name": "b"}, "bag 'b' has no instances"),
        (
            {"instances": np.zeros((1, 3)), "name": "b"},
            r"bag 'b' has instances of shape \(3,\), but the previous bags have \(2,\)",
        ),
        ({"instances": np.full((1, 2), np.nan), "name": "b"}, "bag 'b' has 2 values that are NaN"),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "label": 1},
            r"bag 'b' has \['label', 'name'\], but the previous bags have \['name'\]",
        ),
        ({"instances": np.zeros((1, 2)), "name": "b", "colour": 1}, "bags have no colour"),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "positions": np.zeros((2, 2))},
            r"bag 'b': positions has shape \(2, 2\) for 1 instance;",
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
        (
            {"instances": np.zeros((1, 2)), "name": "b", "label": (1, 2)},
            r"bag 'b' has \['label 0', 'label 1', 'name'\], but the previous bags have \['name'\]",
        ),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "label": np.zeros((1, 2))},
            r"bag 'b': labels has shape \(1, 1, 2\)",
        ),
        ({"instances": np.zeros((1, 2)), "name": "b", "label": ["x", "y"]}, "bag 'b': labels have 2 columns of <U1"),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "label": {"time": -1.0, "event": True}},
            "the time of bag 'b' is -1.0; it must be a finite number > 0",
        ),
        (
            {"instances": np.zeros((1, 2)), "name": "b", "label": {"time": 1.0, "event": 1}},
            r"bag 'b': labels have the fields event \(int64\), time \(float64\)",
        ),
        ({"instances": np.zeros((1, 2)), "name": None}, "bag 'None': the name of bag 0 is missing"),
        ({"instances": np.zeros((1, 2)), "name": "a"}, "bag 'a' occurs more than once; names must be unique"),
    ],
)
def test_bag_writer_rejects_an_invalid_bag_and_leaves_nothing_behind(tmp_path, second, message):
    with pytest.raises(InputError, match=message), BagWriter(tmp_path / "bags") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2)), name="a")
        writer.add(**second)
    assert list(tmp_path.iterdir()) == []


def test_bag_writer_rejects_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no bags to write"), BagWriter(tmp_path / "bags"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_bag_writer_rejects_instances_of_another_dtype(tmp_path):
    with pytest.raises(InputError, match="'1' has dtype float64, but"), BagWriter(tmp_path / "bags") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2), dtype=np.uint8))
        writer.add(np.zeros((2, 2)))


def test_bag_writer_rejects_labels_of_different_types_and_leaves_nothing_behind(tmp_path):
    with pytest.raises(InputError, match="labels are objects of type int, str"), BagWriter(tmp_path / "b") as writer:  # noqa: PT012
        writer.add(np.zeros((2, 2)), label=1)
        writer.add(np.zeros((2, 2)), label="1")
    assert list(tmp_path.iterdir()) == []


def test_bag_writer_writes_native_byte_order(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.array([[1, 2]], dtype=">f4"), name=5, positions=np.array([[1, 2]], dtype=">i4"))
    bags = load_bags(tmp_path / "bags")
    assert bags.instances.dtype == np.dtype(np.float32)
    assert (bags.instances.tolist(), bags.positions.tolist(), bags.names.tolist()) == ([[1, 2]], [[1, 2]], ["5"])


def test_bag_writer_accepts_labels_as_sequences_mappings_and_structured_scalars(tmp_path):
    def write(name, labels, **options):
        with BagWriter(tmp_path / name, **options) as writer:
            for label in labels:
                writer.add(np.zeros((1, 2)), label=label)
        return load_bags(tmp_path / name)

    mapped = write("mapped", [{"a": 1, "b": None}, {"b": 0, "a": 2}])
    listed = write("listed", [[1, np.nan], np.array([2, 0])], label_names=["a", "b"])
    for bags in (mapped, listed):
        np.testing.assert_array_equal(bags.labels, [[1, np.nan], [2, 0]])
        assert bags.label_names == ("a", "b")
    assert write("unnamed", [(1, 2), (3, 4)]).label_names is None
    survival = LABELS["survival"](2)["labels"]
    for labels in (survival, [{"event": event, "time": time} for event, time in survival.tolist()]):
        np.testing.assert_array_equal(write("survival", labels).labels, survival)
    with pytest.raises(InputError, match="bag '1': the label has the names a, c, but label_names are a, b; give one"):
        write("other", [{"a": 1, "b": 2}, {"a": 1, "c": 2}])
    assert not (tmp_path / "other").exists()
