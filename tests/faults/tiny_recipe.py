"""A recipe for `bagwise reproduce` that takes seconds, and the results of its units."""

import json

from bagwise.evaluation.comparison.plan import make_plan
from bagwise.paper import recipes
from bagwise.paper.experiments import Recipe, Setting

NAME = "tiny"
METHODS = {"attention": {"epochs": 3, "batch_size": 4, "engine": "torch"}, "MI-Kernel": {"calibration": False}}
N_UNITS = 6  # per repeat


def make_settings(repeats, quick):
    plans = [make_plan("needles", METHODS, options={"n_bags": 20, "seed": seed}, folds=3) for seed in range(repeats)]
    return [Setting("one", "table1", "musk1", plans)]


def add_to_recipes():
    recipes.RECIPES[NAME] = Recipe(NAME, "accuracy", False, make_settings)


def make_command(repeats, *more):
    """Return the arguments of the command line."""
    return ["reproduce", NAME, "--out", "out", "--repeats", str(repeats), "--quiet", *map(str, more)]


def read_units(folder):
    """Return the content of the units by path, without the measured seconds."""
    return {
        path.relative_to(folder).as_posix(): {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}
        for path in sorted(folder.rglob("units/*/*.json"))
    }
