"""Laws of views: however bags are selected, they equal the packed bags, and no row is copied by the selection."""

import copy
import pickle

import numpy as np
import pytest

from bagwise.bags import row_views
from bagwise.bags.bags import FIELDS, Bags
from bagwise.bags.fingerprint import fingerprint_bags
from bagwise.bags.folder import load_bags, save_bags
from bagwise.bags.row_views import RowView
from bagwise.bags.rows import VIEWED
from bagwise.errors import InputError

SIZES = [2, 1, 3, 20, 1, 40, 2]


def make_bags(prefix="a", first=0, dtype=np.float32):
    """Return bags with all fields, whose values tell where they come from."""
    n_bags, n_instances = len(SIZES), sum(SIZES)
    rows = first + np.arange(n_instances)
    return Bags(
        instances=np.stack([rows, -rows], axis=1).astype(dtype),
        offsets=np.concatenate([[0], np.cumsum(SIZES)]),
        labels=np.arange(n_bags) % 2,
        names=[f"{prefix}{bag}" for bag in range(n_bags)],
        groups=[f"{prefix}{bag // 2}" for bag in range(n_bags)],
        positions=np.stack([rows * 10, rows * 100], axis=1),
        instance_labels=rows % 3,
        tile_sizes=np.full(n_bags, 256),
        extractor="resnet50",
    )


def pack_again(bags):
    """Return equal bags with new, packed arrays."""
    rows = {name: np.concatenate(list(bags.view(name).iterate_bags())) for name in VIEWED}
    fields = {name: getattr(bags, name) for name in FIELDS if name not in VIEWED}
    return Bags(**fields, **rows)


def concatenate_two(first):
    return Bags.concatenate([first, make_bags("b", 1000)])


SELECTIONS = {
    "all": lambda bags: bags,
    "slice": lambda bags: bags[1:4],
    "slice with a step": lambda bags: bags[::2],
    "reversed": lambda bags: bags[::-1],
    "mask": lambda bags: bags[np.arange(len(bags)) % 3 == 1],
    "list": lambda bags: bags[[3, 0]],
    "permutation": lambda bags: bags[np.random.default_rng(0).permutation(len(bags))],
    "one bag": lambda bags: bags[[2]],
    "large bags only": lambda bags: bags[[5, 3]],
    "selection of a selection": lambda bags: bags[[6, 1, 3, 0]][1:][[2, 0]],
    "two bases": concatenate_two,
    "small bags of two bases": lambda bags: concatenate_two(bags)[[9, 1, 8, 0, 11]],
    "large bags of two bases": lambda bags: concatenate_two(bags)[[12, 3, 10]],
    "one of two bases": lambda bags: concatenate_two(bags)[8:11],
    "bases of different types": lambda bags: Bags.concatenate([bags, make_bags("b", 1000, np.float64)])[[9, 1, 4]],
    "halves concatenated": lambda bags: Bags.concatenate([bags[:3], bags[3:]]),
    "concatenation of concatenations": lambda bags: Bags.concatenate([concatenate_two(bags)[[9, 1]], bags[[3]]]),
}
NO_COPY = ("all", "slice", "one bag", "one of two bases", "halves concatenated")


@pytest.fixture(params=["memory", "folder"])
def base(request, tmp_path):
    """Bags in memory, and memory-mapped from a folder."""
    if request.param == "memory":
        return make_bags()
    save_bags(make_bags(), tmp_path / "base")
    return load_bags(tmp_path / "base")


@pytest.fixture(params=SELECTIONS)
def selected(request, base):
    return SELECTIONS[request.param](base)


def assert_equal(bags, expected):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(bags, name), getattr(expected, name), err_msg=name)
    assert bags.dtype == bags.instances.dtype == expected.dtype
    assert bags.nbytes == expected.nbytes
    assert bags.instances.flags.writeable is False


def test_selections_equal_their_packed_bags(selected):
    packed = pack_again(selected)
    assert_equal(selected, packed)
    assert repr(selected) == repr(packed)
    assert fingerprint_bags(selected) == fingerprint_bags(packed)
    for bag in range(len(packed)):
        np.testing.assert_array_equal(selected[bag], packed[bag])


def test_selections_are_selected_like_their_packed_bags(selected):
    packed, rows = pack_again(selected), [len(selected) - 1, 0, 0]
    unnamed, expected = selected.replace(names=None), packed.replace(names=None)
    assert_equal(selected[1:], packed[1:])
    for field in ("instances", "offsets", "labels", "positions"):
        np.testing.assert_array_equal(getattr(unnamed[rows], field), getattr(expected[rows], field))


def test_selections_are_iterated_and_split_like_their_packed_bags(selected):
    packed = pack_again(selected)
    for view, rows in zip(selected, packed, strict=True):
        np.testing.assert_array_equal(view, rows)
    assert_equal(selected.singletons(), packed.singletons())
    assert_equal(selected.map(np.square), packed.map(np.square))


def test_selections_are_replaced_like_their_packed_bags(selected):
    packed = pack_again(selected)
    labels, positions = np.arange(len(packed)), np.zeros((packed.n_instances, 2))
    assert_equal(selected.replace(labels=labels), packed.replace(labels=labels))
    assert_equal(selected.replace(positions=positions), packed.replace(positions=positions))
    offsets = np.array([0, packed.n_instances])
    per_bag = {name: getattr(packed, name)[:1] for name in ("labels", "names", "groups", "tile_sizes")}
    assert_equal(selected.replace(offsets=offsets, **per_bag), packed.replace(offsets=offsets, **per_bag))


@pytest.mark.parametrize("duplicate", [lambda bags: pickle.loads(pickle.dumps(bags)), copy.deepcopy], ids=["p", "d"])
def test_selections_are_pickled_and_saved_like_their_packed_bags(selected, duplicate, tmp_path):
    packed = pack_again(selected)
    assert_equal(duplicate(selected), packed)
    save_bags(selected, tmp_path / "saved")
    assert_equal(load_bags(tmp_path / "saved"), packed)


def test_views_read_any_part_like_their_packed_array(selected):
    rows, packed = selected.view(), selected.instances
    assert (rows.shape, rows.dtype, rows.ndim, len(rows)) == (packed.shape, packed.dtype, packed.ndim, len(packed))
    for start in range(len(packed) + 1):
        for stop in (start - 1, start, start + 1, start + 7, len(packed) + 3):
            np.testing.assert_array_equal(rows[start:stop], packed[start:stop])
    for chosen in ([0, len(packed) - 1, 0], [-1], [], packed[:, 0] % 2 == 0):
        chosen = np.array(chosen, dtype=None if len(chosen) else int)
        np.testing.assert_array_equal(rows[chosen], packed[chosen])
    np.testing.assert_array_equal(rows[::3], packed[::3])
    with pytest.raises(IndexError, match="does not exist"):
        rows[np.array([len(packed)])]


@pytest.mark.parametrize("name", SELECTIONS)
def test_selecting_reads_no_row(base, name, monkeypatch):
    def refuse(*_):
        raise AssertionError("rows were read")

    for method in ("read", "read_bag", "iterate_bags", "__getitem__"):
        monkeypatch.setattr(RowView, method, refuse)
    selected = SELECTIONS[name](base).replace(labels=None)
    sources = [each.array for each in selected.view().bases]
    assert any(np.shares_memory(source, base.view().bases[0].array) for source in sources)
    assert selected[:1].singletons().n_instances == selected.sizes[0]
    with pytest.raises(AssertionError, match="rows were read"):
        _ = selected.instances


@pytest.mark.parametrize("name", NO_COPY)
def test_adjacent_bags_are_read_without_a_copy(name):
    base = make_bags()
    selected = SELECTIONS[name](base)
    sources = [each.array for each in selected.view().bases]
    assert any(np.shares_memory(selected.instances, source) for source in sources)
    assert all(any(np.shares_memory(rows, source) for source in sources) for rows in selected)


def test_halves_of_one_base_share_it_when_concatenated():
    base = make_bags()
    assert len(Bags.concatenate([base[:2], base[4:]]).view().bases) == 1


def test_load_copies_all_rows_to_memory(selected):
    loaded = selected.load()
    assert_equal(loaded, pack_again(selected))
    for name in VIEWED:
        (base,) = loaded.view(name).bases
        assert base.file is None
        assert not any(np.shares_memory(base.array, other.array) for other in selected.view(name).bases)


def test_views_of_bases_in_memory_pickle_only_the_chosen_rows():
    rows = np.random.default_rng(0).normal(size=(10_000, 8))
    bags = Bags(rows, np.arange(0, 10_001, 100))
    for chosen in (bags[5:7], bags[[3, 90]], Bags.concatenate([bags, Bags.from_list([np.ones((1, 8))])])[[4, 100]]):
        assert len(pickle.dumps(chosen.view())) < chosen.nbytes + 3000


def test_views_of_files_pickle_no_row(tmp_path):
    save_bags(Bags(np.ones((10_000, 8)), np.arange(0, 10_001, 100)), tmp_path / "bags")
    bags = load_bags(tmp_path / "bags")
    assert len(pickle.dumps(bags)) < 20_000 < bags.nbytes
    assert len(pickle.dumps(bags[[3, 90]])) < 2000


def test_views_of_files_that_were_replaced_are_refused_by_name(tmp_path):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    bags = load_bags(folder)
    pickled, expected = pickle.dumps(bags[[1, 4]]), bags.instances.copy()
    save_bags(make_bags(first=500), folder)
    np.testing.assert_array_equal(bags.instances, expected)  # an open view keeps its content
    with pytest.raises(InputError, match=r"instances.npy was replaced or changed since the bags were loaded"):
        pickle.loads(pickled)


def test_read_copies_small_and_large_bags_alike(monkeypatch):
    bags, rows = make_bags(), [6, 3, 0, 5, 1]
    copies = []
    for rows_per_copy in (0, 1 << 20):
        monkeypatch.setattr(row_views, "ROWS_PER_COPY", rows_per_copy)
        copies += [bags[rows].instances, concatenate_two(bags)[[13, *rows]].instances[2:]]
    for copied in copies:
        np.testing.assert_array_equal(copied, np.concatenate([bags[row] for row in rows]))
