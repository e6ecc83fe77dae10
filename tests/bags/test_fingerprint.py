import numpy as np

from bagwise.bags import Bags, fingerprint


def test_every_part_of_the_content_counts_and_where_it_lies_does_not(tmp_path):
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
    assert len({fingerprint(one) for one in [bags, *others]}) == 6
    np.save(tmp_path / "rows.npy", rows)
    mapped = bags.replace(instances=np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert fingerprint(mapped) == fingerprint(bags)
