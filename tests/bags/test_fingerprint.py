"""Fingerprints of bags: equal for equal content."""

import numpy as np

from bagwise.bags import fingerprint
from bagwise.bags.bags import Bags
from bagwise.bags.fingerprint import fingerprint_bags


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
