"""Folders of bags are read as written; damaged or forged files and inconsistent bags are rejected."""

import itertools
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bagwise.bags import folder as folder_module
from bagwise.bags.bags import Bags
from bagwise.bags.folder import BagWriter, load_bags, read_empty_bags, save_bags
from bagwise.errors import InputError
from bagwise.io import atomic
from bagwise.io.json_files import read_json
from bagwise.io.manifest import find_damage
from bagwise.io.open_folders import read_folder
from label_kinds import LABELS
from resealing import reseal

OPTIONAL = ("labels", "names", "groups", "positions", "instance_labels", "tile_sizes", "extractor", "label_names")
FIELDS = ("instances", "offsets", *OPTIONAL)


def make_bags(**changes):
    """Return three bags with all metadata."""
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
        make_bags(),
        make_bags(labels=np.array([True, False, True])),
        make_bags(labels=np.array([0.1, 1e-300, 3.0])),
        make_bags(labels=np.array(["x", "y", "z"], dtype=object)),
        make_bags(labels=np.array([1, 2, 3], dtype=np.uint64)),
        make_bags(groups=np.array([2**63 - 1, -(2**63), 0], dtype=object)),
        make_bags(labels=np.array([1, 2.5, 3], dtype=object)),
        *(make_bags(**make_labels(3)) for make_labels in LABELS.values()),
        make_bags(**dict.fromkeys(OPTIONAL)),
        Bags(np.zeros((3, 5, 5, 3), dtype=np.uint8), np.array([0, 3]), labels=np.array([7])),
    ],
    ids=["all", "bool", "float", "object", "unsigned", "large", "mixed numbers", *LABELS, "bare", "images"],
)
def test_load_bags_returns_every_field_that_save_bags_wrote(tmp_path, bags):
    save_bags(bags, tmp_path / "bags")
    loaded = load_bags(tmp_path / "bags")
    for field in FIELDS:
        before, after = getattr(bags, field), getattr(loaded, field)
        if before is None or isinstance(before, str | tuple):
            assert after == before
        else:
            np.testing.assert_array_equal(before, after)
            assert before.dtype.kind in (after.dtype.kind, "O") or {before.dtype.kind, after.dtype.kind} == {"u", "i"}


@pytest.mark.parametrize("kind", LABELS)
def test_save_bags_writes_one_column_per_label(tmp_path, kind):
    bags = make_bags(**LABELS[kind](3))
    save_bags(bags, tmp_path / "bags")
    header, first = (tmp_path / "bags" / "bags.csv").read_text().splitlines()[:2]
    expected = {
        "text": ("label", "label 0"),
        "numbers": ("label", "0"),
        "unnamed columns": ("label 0,label 1,label 2", "0,1,2"),
        "named columns": ("label a,label b\\, c", ",0.5"),
        "boolean columns": ("label x,label y", "True,True"),
        "one column": ("label only", "0.5"),
        "survival": ("time,event", "1.5,True"),
    }
    columns, cells = expected[kind]
    assert header == f"name,{columns},group,tile_size".replace("label b\\, c", '"label b, c"')
    assert first == f"one,{cells},1,256"


def test_read_empty_bags_returns_the_names_of_empty_bags(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.zeros((3, 2)), name="full", label=0)
        writer.empty.append("blank")
    assert read_empty_bags(tmp_path / "bags") == ("blank",)
    assert load_bags(tmp_path / "bags").names.tolist() == ["full"]
    reseal(tmp_path / "bags", empty=[7])
    with pytest.raises(InputError, match="does not list the names of empty bags"):
        read_empty_bags(tmp_path / "bags")


def test_load_bags_leaves_instances_on_disk(tmp_path):
    save_bags(make_bags(), tmp_path / "bags")
    bags = load_bags(tmp_path / "bags")
    for field in ("instances", "positions", "instance_labels"):
        assert bags.view(field).bases[0].file.path == str(tmp_path / "bags" / f"{field}.npy")
    assert np.shares_memory(bags[1:].instances, bags.instances)


@pytest.mark.parametrize("file", ["instances.npy", "offsets.npy", "bags.csv", "positions.npy", "instance_labels.npy"])
def test_load_bags_detects_a_flipped_bit(tmp_path, file):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    assert find_damage(folder) == []
    content = bytearray((folder / file).read_bytes())
    content[-2] ^= 1
    (folder / file).write_bytes(bytes(content))
    assert file in find_damage(folder)[0]
    with pytest.raises(InputError, match=file):
        load_bags(folder)


@pytest.mark.parametrize("file", ["instances.npy", "bags.csv"])
def test_load_bags_detects_missing_and_truncated_files(tmp_path, file):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[:-1])
    with pytest.raises(InputError, match=f"{file} has"):
        load_bags(folder)
    (folder / file).unlink()
    with pytest.raises(InputError, match=f"{file} is missing"):
        load_bags(folder)


@pytest.mark.parametrize("folder", ["", "."])
def test_save_bags_rejects_the_current_working_directory(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is or contains the current working directory .*; give another path"):
        save_bags(make_bags(), folder)
    assert list(tmp_path.iterdir()) == []


def test_save_bags_writes_only_entries_to_the_manifest_that_are_read(tmp_path):
    save_bags(make_bags(), tmp_path / "bags")
    known = {"kind", "version", "files", "n_bags", "n_instances", "columns", "extractor", "empty", "seal"}
    assert read_json(tmp_path / "bags" / "manifest.json").keys() == known


def test_load_bags_rejects_arrays_that_do_not_match_the_manifest(tmp_path):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    reseal(folder, n_instances=5)
    with pytest.raises(InputError, match="do not match the manifest"):
        load_bags(folder)


FORGED = {
    "offsets out of range": ("offsets.npy", lambda path: np.save(path, np.array([0, 1, 10**9, 6]))),
    "decreasing offsets": ("offsets.npy", lambda path: np.save(path, np.array([0, 5, 3, 6]))),
    "offsets that are not numbers": ("offsets.npy", lambda path: np.save(path, np.array(["a", "b", "c", "d"]))),
    "not finite": ("instances.npy", lambda path: np.save(path, np.full((6, 4), np.nan, np.float32))),
    "not npy": ("instances.npy", lambda path: path.write_bytes(b"not an array")),
    "fewer columns": ("bags.csv", lambda path: path.write_text("name,label\na\nb\n")),
    "an open quote": ("bags.csv", lambda path: path.write_text('name,label,group,tile_size\n"a' + "x" * 200_000)),
    "repeated names": ("bags.csv", lambda path: path.write_text("n,l,g,t\n" + "one,a,1,256\n" * 3)),
}


@pytest.mark.parametrize("forged", FORGED)
def test_load_bags_rejects_forged_content_with_matching_hashes(tmp_path, forged):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    name, forge = FORGED[forged]
    forge(folder / name)
    reseal(folder)
    assert find_damage(folder) == []
    with pytest.raises(InputError, match=f"{folder}"):
        load_bags(folder)


def replace_text(old, new):
    return lambda path: path.write_text(path.read_text().replace(old, new))


FORGED_LABELS = {
    "a time below zero": ("survival", {}, replace_text("1.5", "-1.5")),
    "an empty time": ("survival", {}, replace_text("1.5", "")),
    "an event that is not a boolean": ("survival", {}, replace_text("True", "yes")),
    "time as text": ("survival", {"time": "str"}, None),
    "event as a number": ("survival", {"event": "float"}, replace_text("True", "1")),
    "labels as text": ("named columns", {"label a": "str", "label b, c": "str"}, None),
    "labels of two types": ("boolean columns", {"label x": "str"}, None),
    "an infinite label": ("named columns", {}, replace_text("0.5", "inf")),
    "a label that is no number": ("named columns", {}, replace_text("0.5", "x")),
    "a boolean that is neither True nor False": ("boolean columns", {}, replace_text("True", "")),
    "an empty integer": ("unnamed columns", {}, replace_text("0,1,2", "0,,2")),
}


@pytest.mark.parametrize("forged", FORGED_LABELS)
def test_load_bags_rejects_forged_labels_with_matching_hashes(tmp_path, forged):
    kind, kinds, forge = FORGED_LABELS[forged]
    folder = tmp_path / "bags"
    save_bags(make_bags(**LABELS[kind](3)), folder)
    if forge is not None:
        forge(folder / "bags.csv")
    reseal(folder, columns=read_json(folder / "manifest.json")["columns"] | kinds)
    with pytest.raises(InputError, match=f"{folder}"):
        load_bags(folder)


LABEL_ENTRIES = [
    ("named columns", {"label_names": None}),
    ("named columns", {"label_names": ["b, c", "a"]}),
    ("named columns", {"label_names": ["a"]}),
    ("named columns", {"label_names": "ab"}),
    ("unnamed columns", {"label_names": ["a", "b", "c"]}),
    ("survival", {"label_names": ["time", "event"]}),
    ("text", {"label_names": ["a"]}),
    ("survival", {"columns": {"name": "str", "time": "float", "label": "bool", "group": "int", "tile_size": "int"}}),
    ("survival", {"columns": {"name": "str", "time": "float", "tile_size": "int", "group": "int", "event": "bool"}}),
    (
        "boolean columns",
        {"columns": {"name": "str", "label x": "bool", "label": "bool", "group": "int", "tile_size": "int"}},
    ),
]


@pytest.mark.parametrize(("kind", "entries"), LABEL_ENTRIES)
def test_load_bags_rejects_columns_that_do_not_form_one_kind_of_labels(tmp_path, kind, entries):
    save_bags(make_bags(**LABELS[kind](3)), tmp_path / "bags")
    reseal(tmp_path / "bags", **entries)
    with pytest.raises(InputError, match="restore"):
        load_bags(tmp_path / "bags")


MANIFEST_ENTRIES = [
    {"columns": None},
    {"columns": {"name": "?"}},
    {"extractor": 7},
    {"n_bags": "3"},
    {"feature_names": 7},
    {"feature_names": "abcd"},
    {"feature_names": ["a", "b", "c", "a"]},
    {"feature_names": ["a", "b"]},
]


@pytest.mark.parametrize("entries", MANIFEST_ENTRIES)
def test_load_bags_rejects_manifest_entries_that_bagwise_does_not_write(tmp_path, entries):
    save_bags(make_bags(), tmp_path / "bags")
    reseal(tmp_path / "bags", **entries)
    with pytest.raises(InputError, match="restore"):
        load_bags(tmp_path / "bags")


def test_load_bags_compares_only_the_size_of_large_instances_and_warns(tmp_path, monkeypatch):
    folder = tmp_path / "bags"
    save_bags(make_bags(), folder)
    monkeypatch.setattr(folder_module, "MAX_HASHED", 100)
    content = bytearray((folder / "instances.npy").read_bytes())
    content[-1] ^= 1
    (folder / "instances.npy").write_bytes(content)
    with pytest.warns(
        UserWarning, match=r"only the size of .*instances\.npy is compared with its manifest; .*run: bagwise check "
    ):
        assert load_bags(folder).n_bags == 3
    np.save(folder / "offsets.npy", np.array([0, 1, 10**9, 6]))
    reseal(folder)
    with pytest.warns(UserWarning, match="only the size"), pytest.raises(InputError, match="offsets"):
        load_bags(folder)


def make_version(number):
    """Return bags of one version, whose every field tells the version; the size of the files is always the same."""
    rows = np.full((4, 3), number, dtype=np.float32)
    return Bags(
        rows,
        np.array([0, 1, 4]),
        labels=np.full(2, number),
        names=[f"{number}-a", f"{number}-b"],
        positions=np.full((4, 2), number),
        instance_labels=np.full(4, number),
        extractor=f"version {number}",
    )


def read_version(bags):
    """Return the version of bags; fail if their fields are of different versions."""
    fields = (bags.instances, bags.labels, bags.positions, bags.instance_labels)
    versions = {int(value) for field in fields for value in field.ravel()}
    versions |= {int(name.partition("-")[0]) for name in bags.names} | {int(bags.extractor.split()[1])}
    assert len(versions) == 1, versions
    return versions.pop()


def load_and_replace(folder, monkeypatch, step):
    """Load bags and replace the folder before the given file operation; return the bags and whether it was reached."""
    remaining = [step]

    def replace_at(function):
        def call(*arguments, **options):
            remaining[0] -= 1
            if remaining[0] == 0:
                save_bags(make_version(2), folder)
            return function(*arguments, **options)

        return call

    save_bags(make_version(1), folder)
    with monkeypatch.context() as patched:
        for name in ("open", "stat", "fstat"):
            patched.setattr(os, name, replace_at(getattr(os, name)))
        bags = load_bags(folder)
    return bags, remaining[0] <= 0


@pytest.mark.parametrize("can_exchange", [True, False])
def test_load_bags_reads_one_version_if_the_folder_is_replaced_at_any_file_operation(
    tmp_path, monkeypatch, can_exchange
):
    if not can_exchange:
        monkeypatch.setattr(atomic, "exchange_folders", lambda *_: False)
    versions = []
    for step in itertools.count(1):
        bags, was_replaced = load_and_replace(tmp_path / "bags", monkeypatch, step)
        versions.append(read_version(bags))
        if not was_replaced:
            break
    assert len(versions) > 15
    assert set(versions) == {1, 2}
    assert versions[0] == 2
    assert versions[-1] == 1


def replace_again_and_again(folder, n_versions):
    for number in range(1, n_versions + 1):
        save_bags(make_version(number), folder)


@pytest.mark.parametrize("n_reads", [150, pytest.param(3000, marks=pytest.mark.full)])
def test_load_bags_never_mixes_versions_while_another_process_replaces_the_folder(tmp_path, n_reads):
    folder, context = tmp_path / "bags", multiprocessing.get_context("fork")
    save_bags(make_version(0), folder)
    writer = context.Process(target=replace_again_and_again, args=(folder, 1 << 30), daemon=True)
    writer.start()
    try:
        with ThreadPoolExecutor(2) as readers:
            versions = list(readers.map(lambda _: read_version(load_bags(folder)), range(2 * n_reads)))
    finally:
        writer.kill()
        writer.join()
    assert len(versions) == 2 * n_reads


def test_save_bags_rejects_a_second_writer(tmp_path):
    with BagWriter(tmp_path / "bags") as writer:
        writer.add(np.ones((1, 2)), label=1)
        with pytest.raises(InputError, match=r"bags is being written by process \d+ on .*; wait until it has finished"):
            save_bags(make_bags(), tmp_path / "bags")
    assert load_bags(tmp_path / "bags").labels.tolist() == [1]


def test_load_bags_and_read_empty_bags_of_an_open_folder_are_of_the_same_version(tmp_path):
    folder = tmp_path / "bags"

    def write(number):
        with BagWriter(folder) as writer:
            writer.add(np.zeros((1, 2)), name=f"full {number}")
            writer.empty.append(f"empty {number}")

    def read(opened):
        names = load_bags(opened).names.tolist()
        if not replaced:
            replaced.append(True)
            write(2)
        return [*names, *read_empty_bags(opened)]

    replaced = []
    write(1)
    assert read_folder(folder, read) == ["full 1", "empty 1"]
    assert [*load_bags(folder).names, *read_empty_bags(folder)] == ["full 2", "empty 2"]
