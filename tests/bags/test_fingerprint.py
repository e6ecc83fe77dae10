"""Fingerprints of bags: equal for equal content."""

import numpy as np
import pytest

from bagwise.bags import fingerprint
from bagwise.bags.bags import Bags
from bagwise.bags.fingerprint import MAX_HASHED_ROWS, compute_signatures, fingerprint_bags
from bagwise.bags.folder import load_bags, save_bags
from label_kinds import LABELS


def test_fingerprint_bags_depends_on_the_content_and_not_on_where_it_is_stored(tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    bags = Bags(rows, np.array([0, 2, 6]), labels=np.array([0, 1]), names=np.array(["a", "b"]))
    changed = rows.copy()
    changed[5, 1] += 1e-9
    others = [
        bags.replace(instances=changed),
        bags.replace(instances=rows.astype(np.float32)),
        bags.replace(offsets=np.array([0, 3, 6])),
        bags.replace(labels=np.array([1, 0])),
        bags.replace(names=np.array(["a", "c"])),
    ]
    assert len({fingerprint_bags(each) for each in [bags, *others]}) == 6
    np.save(tmp_path / "rows.npy", rows)
    mapped = bags.replace(instances=np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert fingerprint_bags(mapped) == fingerprint_bags(bags)


def test_fingerprint_bags_uses_the_labels_that_are_given():
    bags = Bags.from_list([[[1.0]], [[2.0]]], labels=[0, 1])
    assert fingerprint_bags(bags, np.array([0, 1])) == fingerprint_bags(bags)
    assert fingerprint_bags(bags, np.array([1, 0])) != fingerprint_bags(bags)


@pytest.mark.parametrize("kind", LABELS)
def test_fingerprint_bags_depends_on_every_label_and_not_on_where_it_is_stored(tmp_path, kind):
    bags = Bags(np.arange(12.0).reshape(6, 2), np.array([0, 2, 6]), **LABELS[kind](2))
    others = [bags.replace(labels=bags.labels[::-1]), bags.replace(labels=None)]
    if bags.label_names is not None:
        others.append(bags.replace(label_names=[f"{name}'" for name in bags.label_names]))
        others.append(bags.replace(labels=np.nan_to_num(bags.labels) + 1e-12 * np.arange(bags.labels.shape[1])))
    assert len({fingerprint_bags(each) for each in [bags, *others]}) == 1 + len(others) - (kind == "one column")
    save_bags(bags, tmp_path / "bags")
    assert fingerprint_bags(load_bags(tmp_path / "bags")) == fingerprint_bags(bags)


def test_fingerprint_bags_of_one_label_per_bag_is_that_of_earlier_versions():
    bags = Bags(np.arange(12.0).reshape(6, 2), [0, 2, 6], labels=[0, 1], names=["a", "b"], groups=[1, 2])
    assert fingerprint_bags(bags) == "92b15709dda3c79d3f5cc518207676ce0a70a3bb0efdba9900b5795e31764976"


def test_fingerprint_bags_reads_the_first_and_the_last_row_of_large_bags(monkeypatch):
    monkeypatch.setattr(fingerprint, "MAX_BYTES", 100)
    monkeypatch.setattr(fingerprint, "N_SAMPLED_ROWS", 3)
    rows = np.zeros((9, 2))
    digests = []
    for changed in (None, 0, 1, 4, 8):
        instances = rows.copy()
        if changed is not None:
            instances[changed] = 1.0
        digests.append(fingerprint_bags(Bags(instances, np.array([0, 9]))))
    whole, first, unread, middle, last = digests
    assert unread == whole
    assert len({whole, first, middle, last}) == 4


HASHED = Bags.from_list([np.random.default_rng(n).normal(size=(n + 1, 3)).astype(np.float32) for n in range(40)])


def test_signatures_belong_to_the_content_not_to_the_place_the_name_or_the_type():
    signatures = compute_signatures(HASHED)
    assert len(set(signatures.tolist())) == len(HASHED)
    chosen = [7, 3, 7]
    other = HASHED[[7, 3]].replace(instances=HASHED[[7, 3]].instances.astype(np.float64), names=["a", "b"])
    np.testing.assert_array_equal(compute_signatures(HASHED[chosen]), signatures[chosen])
    np.testing.assert_array_equal(compute_signatures(other), signatures[[7, 3]])


def test_signatures_differ_if_a_hashed_value_or_the_order_or_the_size_differs():
    instances = HASHED[MAX_HASHED_ROWS - 1]
    changed = instances.copy()
    changed[5, 1] += 1
    variants = Bags.from_list([instances, changed, instances[::-1], instances[:-1]])
    assert len(set(compute_signatures(variants).tolist())) == 4


def test_compute_signatures_reads_few_rows_of_a_large_bag():
    """The rows of the bag are views of one value, so that reading them all would allocate 8 TB."""
    rows = np.broadcast_to(np.zeros(1000), (10**9, 1000))
    bags = Bags.trusted(instances=rows, offsets=np.array([0, 10**9]))
    assert compute_signatures(bags).shape == (1,)
