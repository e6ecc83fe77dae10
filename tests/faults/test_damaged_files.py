"""Truncated, bit-flipped, swapped or missing files are named by `bagwise check`, and never loaded.

Every file in every kind of folder with a manifest is damaged in each of these ways, including the manifest itself.
"""

import json
import random
import shutil

import numpy as np
import pytest

from bagwise.bags.folder import load_bags, save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.io.atomic import MANIFEST
from bagwise.runs.execution import execute_run
from bagwise.runs.run import Run
from command_line import run_quietly, run_rejected
from resealing import reseal

KINDS = ("run", "model", "bags", "comparison", "explanation")
LOADERS = {
    "run": Run,
    "model": BagEstimator.load,
    "bags": load_bags,
    "comparison": Comparison,
}  # explanations are never loaded


def make_run(folder, seed):
    data = {"data": "needles", "options": {"n_bags": 20}, "test": None, "split_seed": 1}
    parameters = {"epochs": 2, "batch_size": 8, "random_state": seed, "engine": "torch"}
    return execute_run(folder, {"data": data, "parameters": parameters})


def make_bags(folder, seed):
    bags = load_dataset("needles", n_bags=12, seed=seed)
    positions = np.random.default_rng(seed).integers(0, 99, (bags.n_instances, 2))
    save_bags(bags.replace(positions=positions, tile_sizes=np.full(len(bags), 9)), folder)


def make_comparison(folder, seed):
    methods = {"MI-Kernel": {"calibration": False}, "MI-SVM": {"calibration": False}}
    compare_methods(folder, make_plan("needles", methods, options={"n_bags": 12}, folds=2, seed=seed))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return a folder with "one" and "two", which contain a folder of every kind and differ in the seed."""
    folders = tmp_path_factory.mktemp("intact")
    for name, seed in (("one", 1), ("two", 2)):
        folder = folders / name
        run = make_run(folder / "run", seed)
        shutil.copytree(run.folder / "model", folder / "model")
        make_bags(folder / "bags", seed)
        make_comparison(folder / "comparison", seed)
        explain = ("explain", run.folder, "--bag", run.predictions[0]["bag"], "--out", folder / "explanation")
        run_quietly(*explain, cwd=folder)
    return folders


def truncate(file, other, random_source):
    file.write_bytes(file.read_bytes()[: random_source.choice([0, -2, file.stat().st_size // 2])])


def flip(file, other, random_source):
    content = bytearray(file.read_bytes())
    content[random_source.randrange(len(content))] ^= 1 << random_source.randrange(8)
    file.write_bytes(content)


def remove(file, other, random_source):
    file.unlink()


def swap(file, other, random_source):
    """Replace a file by the file of the same name in the other folder."""
    shutil.copyfile(other, file)


DAMAGES = {damage.__name__: damage for damage in (truncate, flip, remove, swap)}


def check_every_file(folders, kind, damage, work, random_source):
    """Damage one file at a time, and check that `bagwise check` names it and that the folder is not loaded."""
    intact, other = folders / "one" / kind, folders / "two" / kind
    names = sorted(path.relative_to(intact).as_posix() for path in intact.rglob("*") if path.is_file())
    for name in names:
        folder = shutil.copytree(intact, work / kind, dirs_exist_ok=True)
        DAMAGES[damage](folder / name, other / name, random_source)
        if (folder / name).exists() and (folder / name).read_bytes() == (intact / name).read_bytes():
            continue  # the file is the same in both folders
        message = run_rejected("check", folder, cwd=work)
        assert name in message or name == MANIFEST  # for a damaged manifest, another file may be named
        # a comparison without a manifest is treated as unfinished, and can be loaded
        unfinished = kind == "comparison" and not (folder / MANIFEST).exists()
        if kind in LOADERS and not unfinished:
            with pytest.raises(InputError, match=kind):
                LOADERS[kind](folder)


def read_entries(folder):
    return json.loads((folder / MANIFEST).read_text())["files"]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_check_and_loaders_detect_damage_of_every_file(folders, tmp_path, kind, damage):
    check_every_file(folders, kind, damage, tmp_path, random.Random(f"{kind} {damage}"))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_check_and_loaders_detect_a_random_flipped_bit_of_every_file(folders, tmp_path, kind, seed):
    check_every_file(folders, kind, "flip", tmp_path, random.Random(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_check_and_loaders_accept_an_intact_folder(folders, kind):
    assert f"is intact (bagwise {kind})" in run_quietly("check", folders / "one" / kind, cwd=folders)
    assert kind not in LOADERS or LOADERS[kind](folders / "one" / kind) is not None


def test_every_command_rejects_a_damaged_run_and_names_the_file(folders, tmp_path):
    run = shutil.copytree(folders / "one" / "run", tmp_path / "run")
    other = folders / "two" / "run"
    flip(run / "weights.npy", None, random.Random(0))
    bag = Run(other).predictions[0]["bag"]
    for command in (
        ("evaluate", run),
        ("predict", run, "needles", "--out", "p.csv"),
        ("report", run),
        ("explain", run),
        ("explain", other, "--bag", bag, "--beside", run, "--out", "why"),
        ("explain", other, "--bag", bag, "--seeds", run, "--out", "why"),
        ("view", run),
        ("train", "needles", run, "--resume", "--data-option", "n_bags=20"),
    ):
        assert "weights.npy does not match the recorded SHA-256" in run_rejected(*command, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_every_command_rejects_damaged_bags_and_names_the_file(folders, tmp_path):
    bags, run = shutil.copytree(folders / "one" / "bags", tmp_path / "bags"), folders / "one" / "run"
    flip(bags / "instances.npy", None, random.Random(0))
    for command in (
        ("train", bags, "run"),
        ("train", "needles", "run", "--test", bags),
        ("evaluate", run, bags),
        ("predict", run, bags, "--out", "p.csv"),
        ("compare", bags, "--methods", "MI-SVM", "--out", "comparison"),
    ):
        assert "instances.npy does not match the recorded SHA-256" in run_rejected(*command, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bags"]


def test_compare_methods_does_not_resume_a_damaged_comparison(folders, tmp_path):
    folder = shutil.copytree(folders / "one" / "comparison", tmp_path / "comparison")
    unit = next((folder / "units").rglob("*.json"))
    flip(unit, None, random.Random(0))
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    with pytest.raises(InputError, match=f"{unit.name} does not match the recorded SHA-256"):
        compare_methods(folder, make_plan("needles", plan["methods"], options=plan["options"], folds=2, seed=1))


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(
    "facts", [{"files": {}}, {"files": None}, {"kind": "bagwise thesis"}, {"kind": None}, {"version": 3}], ids=str
)
def test_loaders_reject_an_invalid_manifest(folders, tmp_path, kind, facts):
    folder = shutil.copytree(folders / "one" / kind, tmp_path / kind)
    reseal(folder, **facts)
    if kind != "comparison" or "files" in facts:  # a comparison is recognised by its plan
        with pytest.raises(InputError, match=r"not a|lists no files|newer"):
            LOADERS[kind](folder)
    if "files" in facts or facts.get("kind", "") is None:
        assert MANIFEST in run_rejected("check", folder, cwd=tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["parent", "absolute", "link"])
def test_check_and_loaders_reject_entries_outside_the_folder(folders, tmp_path, kind, way):
    folder = shutil.copytree(folders / "one" / kind, tmp_path / kind)
    outside, name = tmp_path / "outside", sorted(read_entries(folder))[0]
    shutil.copyfile(folder / name, outside)
    entry, files = read_entries(folder)[name], read_entries(folder)
    if way == "link":
        (folder / name).unlink()
        (folder / name).symlink_to(outside)
    else:
        name = "../outside" if way == "parent" else str(outside)
        reseal(folder, files={**files, name: entry})
    assert f"{name} points outside the folder" in run_rejected("check", folder, cwd=tmp_path)
    if kind in LOADERS:
        with pytest.raises(InputError, match="points outside the folder"):
            LOADERS[kind](folder)


@pytest.mark.parametrize("kind", ["run", "model", "bags"])
def test_loaders_name_a_file_that_is_missing_from_the_manifest(folders, tmp_path, kind):
    intact = folders / "one" / kind
    for name in {"run": ("predictions.csv", "metrics.json"), "model": ("model.json",), "bags": ("bags.csv",)}[kind]:
        folder = shutil.copytree(intact, tmp_path / kind, dirs_exist_ok=True)
        reseal(folder, files={other: entry for other, entry in read_entries(intact).items() if other != name})
        with pytest.raises(InputError, match=rf"{name} is not in manifest\.json"):
            LOADERS[kind](folder)
