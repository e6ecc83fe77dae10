"""Feature names: they stay with the bags, and bags are aligned by name, never by position."""

import pickle

import numpy as np
import pytest

from bagwise.bags.bags import Bags
from bagwise.bags.feature_names import align_features, check_feature_names, find_columns
from bagwise.bags.fingerprint import fingerprint_bags
from bagwise.bags.folder import load_bags, save_bags
from bagwise.errors import InputError

NAMES = ("a", "b", "c")
BAGS = Bags(np.arange(18.0).reshape(6, 3), [0, 1, 3, 6], labels=[0, 1, 0], feature_names=NAMES)
ORDER = ("c", "a", "b")
COLUMNS = [2, 0, 1]


def save_and_load(bags, folder):
    save_bags(bags, folder)
    return load_bags(folder)


WAYS = {
    "slice": lambda bags, folder: bags[:2],
    "mask": lambda bags, folder: bags[[True, False, True]],
    "selection of a selection": lambda bags, folder: bags[[2, 0]][[1, 0]],
    "singletons": lambda bags, folder: bags.singletons(),
    "map": lambda bags, folder: bags.map(np.square),
    "replace": lambda bags, folder: bags.replace(labels=None),
    "concatenate": lambda bags, folder: Bags.concatenate([bags, bags[[1]]]),
    "pickle": lambda bags, folder: pickle.loads(pickle.dumps(bags[[2, 0]])),
    "folder": save_and_load,
    "folder, then pickle": lambda bags, folder: pickle.loads(pickle.dumps(save_and_load(bags, folder)[[0, 2]])),
}


@pytest.mark.parametrize("way", WAYS)
def test_feature_names_are_kept_and_aligning_commutes(way, tmp_path):
    """Names survive, and aligning before or after gives the same instances, however they are read."""
    derived = WAYS[way](BAGS, tmp_path / "plain")
    assert derived.feature_names == NAMES
    before, after = WAYS[way](align_features(BAGS, ORDER), tmp_path / "aligned"), align_features(derived, ORDER)
    for aligned in (before, after):
        assert aligned.feature_names == ORDER
        assert aligned.instance_shape == (3,)
        expected = derived.instances[:, COLUMNS]
        np.testing.assert_array_equal(aligned.instances, expected)
        np.testing.assert_array_equal(np.concatenate(list(aligned)), expected)
        np.testing.assert_array_equal(aligned.view()[1:3], expected[1:3])
        np.testing.assert_array_equal(aligned.view()[np.array([2, 0])], expected[[2, 0]])
        np.testing.assert_array_equal(aligned[0], derived[0][:, COLUMNS])
    np.testing.assert_array_equal(align_features(after, NAMES).instances, derived.instances)


def test_align_features_reads_no_row():
    aligned = align_features(BAGS, ORDER)
    assert aligned.view().bases[0].array is BAGS.view().bases[0].array
    assert align_features(BAGS, NAMES) is BAGS


def test_find_columns_names_missing_and_unknown_features():
    with pytest.raises(InputError, match="of the model \\(missing: 'd'; unknown: 'b', 'c'\\); rename the columns"):
        find_columns(NAMES, ["a", "d"])
    with pytest.raises(InputError, match="'f4' and 2 more"):
        find_columns(("x",), ["x", *(f"f{n}" for n in range(7))])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "2 feature_names for 3 features"),
        (["a", "b", "a"], "'a' occurs more than once"),
        (["a", "b", 3], "must be a sequence of strings"),
        ("abc", "must be a sequence of strings"),
    ],
)
def test_bags_reject_wrong_feature_names(names, message):
    with pytest.raises(InputError, match=message):
        BAGS.replace(feature_names=names)


def test_bags_of_images_have_no_feature_names():
    with pytest.raises(InputError, match="are for vectors"):
        check_feature_names(["a"], (4, 4))
    assert BAGS.map(lambda rows: rows[:, :2]).feature_names is None


def test_fingerprint_depends_on_the_names():
    renamed = BAGS.replace(feature_names=["a", "b", "d"])
    assert len({fingerprint_bags(bags) for bags in (BAGS, renamed, BAGS.replace(feature_names=None))}) == 3
