"""Truncated, bit-flipped, swapped or missing files of a run or data folder: found by name, never loaded silently.

Every file that really is in a folder of every kind with a manifest is damaged in each of the ways, the manifest
itself too. ``bagwise check`` names it and ends with exit code 2, and what loads the folder refuses it.
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
from command_line import refusal, run_quietly
from resealing import reseal

KINDS = ("run", "model", "bags", "comparison", "explanation")
LOADERS = {
    "run": Run,
    "model": BagEstimator.load,
    "bags": load_bags,
    "comparison": Comparison,
}  # nothing loads the last


def make_run(folder, seed):
    data = {"data": "needles", "options": {"n_bags": 20}, "test": None, "split_seed": 1}
    parameters = {"epochs": 2, "batch_size": 8, "random_state": seed, "engine": "torch"}
    return execute_run(folder, {"data": data, "parameters": parameters})


def make_bags(folder, seed):
    bags = load_dataset("needles", n_bags=12, seed=seed)
    positions = np.random.default_rng(seed).integers(0, 99, (bags.n_instances, 2))
    save_bags(bags.replace(positions=positions, tile_sizes=np.full(len(bags), 9)), folder)


def make_comparison(folder, seed):
    methods = {"MI-Kernel": {"calibration": 0}, "MI-SVM": {"calibration": 0}}
    compare_methods(folder, make_plan("needles", methods, options={"n_bags": 12}, folds=2, seed=seed))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder of each kind, and its twin: the same with another seed."""
    folder = tmp_path_factory.mktemp("whole")
    for twin, seed in (("one", 1), ("two", 2)):
        run = make_run(folder / twin / "run", seed)
        shutil.copytree(run.folder / "model", folder / twin / "model")
        make_bags(folder / twin / "bags", seed)
        make_comparison(folder / twin / "comparison", seed)
        why = ("explain", run.folder, "--bag", run.predictions[0]["bag"], "--out", folder / twin / "explanation")
        run_quietly(*why, cwd=folder)
    return folder


def cut(file, other, draws):
    file.write_bytes(file.read_bytes()[: draws.choice([0, -2, file.stat().st_size // 2])])


def flip(file, other, draws):
    content = bytearray(file.read_bytes())
    content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
    file.write_bytes(content)


def remove(file, other, draws):
    file.unlink()


def swap(file, other, draws):
    """With the file of the same name of the twin, as long or not."""
    shutil.copyfile(other, file)


WAYS = {way.__name__: way for way in (cut, flip, remove, swap)}


def check_every_file(places, kind, way, work, draws):
    """Damage each file in turn: `check` names it, and it is not loaded."""
    whole, twin = places / "one" / kind, places / "two" / kind
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    for name in names:
        folder = shutil.copytree(whole, work / kind, dirs_exist_ok=True)
        WAYS[way](folder / name, twin / name, draws)
        if (folder / name).exists() and (folder / name).read_bytes() == (whole / name).read_bytes():
            continue  # both twins have the same, and nothing is damaged
        assert name in refusal("check", folder, cwd=work) or name == MANIFEST  # which may accuse what it speaks of
        begun = kind == "comparison" and not (folder / MANIFEST).exists()  # one that was cut is read as far as it went
        if kind in LOADERS and not begun:
            with pytest.raises(InputError, match=kind):
                LOADERS[kind](folder)


def listed(folder):
    return json.loads((folder / MANIFEST).read_text())["files"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_every_folder_is_watched(places, tmp_path, kind, way):
    check_every_file(places, kind, way, tmp_path, random.Random(f"{kind} {way}"))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_counts(places, tmp_path, kind, seed):
    check_every_file(places, kind, "flip", tmp_path, random.Random(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_folder_is_whole(places, kind):
    said = run_quietly("check", places / "one" / kind, cwd=places)
    assert f"is intact (bagwise {kind})" in said
    assert kind not in LOADERS or LOADERS[kind](places / "one" / kind) is not None


def test_every_command_refuses_a_damaged_run(places, tmp_path):
    run = shutil.copytree(places / "one" / "run", tmp_path / "run")
    other = places / "two" / "run"
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
        assert "weights.npy does not have the recorded SHA-256" in refusal(*command, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_every_command_refuses_damaged_bags(places, tmp_path):
    bags, run = shutil.copytree(places / "one" / "bags", tmp_path / "bags"), places / "one" / "run"
    flip(bags / "instances.npy", None, random.Random(0))
    for command in (
        ("train", bags, "run"),
        ("train", "needles", "run", "--test", bags),
        ("evaluate", run, bags),
        ("predict", run, bags, "--out", "p.csv"),
        ("compare", bags, "--methods", "MI-SVM", "--out", "comparison"),
    ):
        assert "instances.npy does not have the recorded SHA-256" in refusal(*command, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bags"]


def test_a_damaged_comparison_is_not_gone_on_with(places, tmp_path):
    folder = shutil.copytree(places / "one" / "comparison", tmp_path / "comparison")
    flip(next((folder / "units").rglob("*.json")), None, random.Random(0))
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    with pytest.raises(InputError, match="does not have the recorded SHA-256"):
        compare_methods(folder, make_plan("needles", plan["methods"], options=plan["options"], folds=2, seed=1))


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(
    "facts", [{"files": {}}, {"files": None}, {"kind": "bagwise thesis"}, {"kind": None}, {"version": 3}], ids=str
)
def test_a_manifest_that_vouches_for_nothing_is_refused(places, tmp_path, kind, facts):
    folder = shutil.copytree(places / "one" / kind, tmp_path / kind)
    reseal(folder, **facts)
    if kind != "comparison" or "files" in facts:  # which is known by its plan, and read as far as it went
        with pytest.raises(InputError, match=r"not a|lists no files|newer"):
            LOADERS[kind](folder)
    if "files" in facts or facts.get("kind", "") is None:
        assert MANIFEST in refusal("check", folder, cwd=tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["above", "absolute", "link"])
def test_a_manifest_never_leads_out_of_its_folder(places, tmp_path, kind, way):
    folder = shutil.copytree(places / "one" / kind, tmp_path / kind)
    outside, name = tmp_path / "outside", sorted(listed(folder))[0]
    shutil.copyfile(folder / name, outside)
    entry, files = listed(folder)[name], listed(folder)
    if way == "link":
        (folder / name).unlink()
        (folder / name).symlink_to(outside)
    else:
        name = "../outside" if way == "above" else str(outside)
        reseal(folder, files={**files, name: entry})
    assert f"{name} points outside the folder" in refusal("check", folder, cwd=tmp_path)
    if kind in LOADERS:
        with pytest.raises(InputError, match="points outside the folder"):
            LOADERS[kind](folder)


@pytest.mark.parametrize("kind", ["run", "model", "bags"])
def test_a_file_that_the_manifest_is_silent_about_is_not_read(places, tmp_path, kind):
    whole = places / "one" / kind
    for name in {"run": ("predictions.csv", "metrics.json"), "model": ("model.json",), "bags": ("bags.csv",)}[kind]:
        folder = shutil.copytree(whole, tmp_path / kind, dirs_exist_ok=True)
        reseal(folder, files={other: entry for other, entry in listed(whole).items() if other != name})
        with pytest.raises(InputError, match=rf"{name} is not in manifest\.json"):
            LOADERS[kind](folder)
