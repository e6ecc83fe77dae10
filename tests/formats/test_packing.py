from pathlib import Path

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.packing import Packer

GROUPS = {"a": "1e3", "b": "1000", "c": "7"}


def test_rows_of_a_bag_need_not_be_neighbours():
    packer = Packer(Path("a.csv"))
    for number, bag in enumerate("abcab"):
        packer.add(f"line {number}", bag, [number, -number], label=bag, group=GROUPS[bag], instance_label=number)
    bags = packer.bags()
    np.testing.assert_array_equal(bags.instances[:, 0], [0, 3, 1, 4, 2])
    assert bags.names.tolist() == bags.labels.tolist() == ["a", "b", "c"]
    assert bags.groups.tolist() == ["1e3", "1000", "7"], "two patients, though one number"
    assert bags.instance_labels.tolist() == [0, 3, 1, 4, 2]


def test_mixed_labels_and_missing_names_are_told_with_their_places():
    packer = Packer(Path("a.csv"))
    packer.add("line 2", "a", [1.0], label="yes")
    with pytest.raises(InputError, match="line 3: bag 'a' has the label 'no', but 'yes' in line 2"):
        packer.add("line 3", "a", [1.0], label="no")
    with pytest.raises(InputError, match="line 4: the bag is missing"):
        packer.add("line 4", "", [1.0], label="no")
    with pytest.raises(InputError, match="line 5: the label is missing"):
        packer.add("line 5", "b", [1.0], label="nan")
    with pytest.raises(InputError, match="has no rows"):
        Packer(Path("a.csv")).bags()
