import numpy as np
import pytest

from bagwise import storage
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.files import read_json
from bagwise.manifests import damages
from bagwise.storage import empty_bags, load_bags, save_bags
from bagwise.writing import BagWriter
from resealing import reseal

OPTIONAL = ("labels", "names", "groups", "positions", "instance_labels", "tile_sizes", "extractor")
FIELDS = ("instances", "offsets", *OPTIONAL)


def sample(**changes):
    fields = {
        "labels": np.array(["a", 'b,\n"c"', "ü"]),
        "names": np.array(["one", "two", "=three"]),
        "groups": np.array([1, 1, 2]),
        "positions": np.arange(12).reshape(6, 2),
        "instance_labels": np.array([0, 1, 0, 0, 1, 1]),
        "tile_sizes": np.array([256, 512, 300]),
        "extractor": "resnet50",
    }
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    return Bags(rows, np.array([0, 1, 3, 6]), **{**fields, **changes})


@pytest.mark.parametrize(
    "bags",
    [
        sample(),
        sample(labels=np.array([True, False, True])),
        sample(labels=np.array([0.1, 1e-300, 3.0])),
        sample(labels=np.array(["x", "y", "z"], dtype=object)),
        sample(labels=np.array([1, 2, 3], dtype=np.uint64)),
        sample(groups=np.array([2**63 - 1, -(2**63), 0], dtype=object)),
        sample(labels=np.array([1, 2.5, 3], dtype=object)),
        sample(**dict.fromkeys(OPTIONAL)),
        Bags(np.zeros((3, 5, 5, 3), dtype=np.uint8), np.array([0, 3]), labels=np.array([7])),
    ],
    ids=["all", "bool", "float", "object", "unsigned", "large", "mixed numbers", "bare", "images"],
)
def test_every_field_comes_back_as_it_was(tmp_path, bags):
    save_bags(bags, tmp_path / "bags")
    again = load_bags(tmp_path / "bags")
    for field in FIELDS:
        before, after = getattr(bags, field), getattr(again, field)
        if before is None or isinstance(before, str):
            assert after == before
        else:
            np.testing.assert_array_equal(before, after)
            assert before.dtype.kind in (after.dtype.kind, "O") or {before.dtype.kind, after.dtype.kind} == {"u", "i"}


def test_bags_without_an_instance_are_remembered_by_name(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.zeros((3, 2)), name="full", label=0)
        writer.empty.append("blank")
    assert empty_bags(tmp_path / "bags") == ("blank",)
    assert load_bags(tmp_path / "bags").names.tolist() == ["full"]
    reseal(tmp_path / "bags", empty=[7])
    with pytest.raises(InputError, match="does not list the names of empty bags"):
        empty_bags(tmp_path / "bags")


def test_instances_stay_on_disk(tmp_path):
    save_bags(sample(), tmp_path / "bags")
    bags = load_bags(tmp_path / "bags")
    assert isinstance(bags.instances.base, np.memmap) or isinstance(bags.instances, np.memmap)
    assert np.shares_memory(bags[1:].instances, bags.instances)


@pytest.mark.parametrize("file", ["instances.npy", "offsets.npy", "bags.csv", "positions.npy", "instance_labels.npy"])
def test_a_flipped_bit_is_found(tmp_path, file):
    folder = tmp_path / "bags"
    save_bags(sample(), folder)
    assert damages(folder) == []
    content = bytearray((folder / file).read_bytes())
    content[-2] ^= 1
    (folder / file).write_bytes(bytes(content))
    assert file in damages(folder)[0]
    with pytest.raises(InputError, match=file):
        load_bags(folder)


@pytest.mark.parametrize("file", ["instances.npy", "bags.csv"])
def test_missing_and_cut_files_are_never_loaded(tmp_path, file):
    folder = tmp_path / "bags"
    save_bags(sample(), folder)
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[:-1])
    with pytest.raises(InputError, match=f"{file} has"):
        load_bags(folder)
    (folder / file).unlink()
    with pytest.raises(InputError, match=f"{file} is missing"):
        load_bags(folder)


@pytest.mark.parametrize("folder", ["", "."])
def test_the_folder_one_stands_in_is_no_place_for_bags(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is the folder you stand in.*; give a new path"):
        save_bags(sample(), folder)
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_says_only_what_is_read_again(tmp_path):
    save_bags(sample(), tmp_path / "bags")
    known = {"kind", "version", "files", "n_bags", "n_instances", "columns", "extractor", "empty", "seal"}
    assert read_json(tmp_path / "bags" / "manifest.json").keys() == known


def test_arrays_that_do_not_fit_the_manifest_are_refused(tmp_path):
    folder = tmp_path / "bags"
    save_bags(sample(), folder)
    reseal(folder, n_instances=5)
    with pytest.raises(InputError, match="do not fit the manifest"):
        load_bags(folder)


FORGED = {
    "wild offsets": ("offsets.npy", lambda path: np.save(path, np.array([0, 1, 10**9, 6]))),
    "falling offsets": ("offsets.npy", lambda path: np.save(path, np.array([0, 5, 3, 6]))),
    "offsets that are no numbers": ("offsets.npy", lambda path: np.save(path, np.array(["a", "b", "c", "d"]))),
    "not finite": ("instances.npy", lambda path: np.save(path, np.full((6, 4), np.nan, np.float32))),
    "not npy": ("instances.npy", lambda path: path.write_bytes(b"no array at all")),
    "another label": ("bags.csv", lambda path: path.write_text("name,label\na\nb\n")),
    "an open quote": ("bags.csv", lambda path: path.write_text('name,label,group,tile_size\n"a' + "x" * 200_000)),
    "two of a name": ("bags.csv", lambda path: path.write_text("n,l,g,t\n" + "one,a,1,256\n" * 3)),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_folder_forged_with_its_hashes_is_refused_all_the_same(tmp_path, forged):
    folder = tmp_path / "bags"
    save_bags(sample(), folder)
    name, forge = FORGED[forged]
    forge(folder / name)
    reseal(folder)
    assert damages(folder) == []
    with pytest.raises(InputError, match=f"{folder}"):
        load_bags(folder)


@pytest.mark.parametrize("facts", [{"columns": None}, {"columns": {"name": "?"}}, {"extractor": 7}, {"n_bags": "3"}])
def test_a_manifest_that_says_what_bagwise_never_writes_is_refused(tmp_path, facts):
    save_bags(sample(), tmp_path / "bags")
    reseal(tmp_path / "bags", **facts)
    with pytest.raises(InputError, match="restore"):
        load_bags(tmp_path / "bags")


def test_a_great_folder_is_compared_by_size_and_says_so(tmp_path, monkeypatch):
    folder = tmp_path / "bags"
    save_bags(sample(), folder)
    monkeypatch.setattr(storage, "HASHED", 100)
    content = bytearray((folder / "instances.npy").read_bytes())
    content[-1] ^= 1
    (folder / "instances.npy").write_bytes(content)
    with pytest.warns(UserWarning, match=r"by its size alone; bagwise check .* reads it whole"):
        assert load_bags(folder).n_bags == 3
    np.save(folder / "offsets.npy", np.array([0, 1, 10**9, 6]))
    reseal(folder)
    with pytest.warns(UserWarning, match="size alone"), pytest.raises(InputError, match="offsets"):
        load_bags(folder)
