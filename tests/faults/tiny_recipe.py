"""An experiment for `bagwise reproduce` that takes seconds, and the numbers of its units."""

import json

from bagwise.evaluation.comparison.plan import make_plan
from bagwise.paper import recipes
from bagwise.paper.recipes import Recipe, Setting

NAME = "tiny"
METHODS = {"attention": {"epochs": 10, "batch_size": 4, "engine": "torch"}, "MI-Kernel": {"calibration": 0}}
UNITS = 6  # a draw


def settings(repeats, quick):
    plans = [make_plan("needles", METHODS, options={"n_bags": 20, "seed": draw}, folds=3) for draw in range(repeats)]
    return [Setting("one", "table1", "musk1", plans)]


def add_to_recipes():
    recipes.RECIPES[NAME] = Recipe(NAME, "accuracy", False, settings)


def words(draws, *more):
    """The experiment as words of the command line."""
    return ["reproduce", NAME, "--out", "out", "--repeats", draws, "--quiet", *more]


def numbers(folder):
    """What the units say, by their paths: everything but the times."""
    return {
        path.relative_to(folder).as_posix(): {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}
        for path in sorted(folder.rglob("units/*/*.json"))
    }
