"""Fixtures of the report tests: a summary, a run with three classes, and a reader of run files without bagwise."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(scope="session")
def summary(digits_run):
    from bagwise.report.summary import summarise_run

    return summarise_run(digits_run)


@pytest.fixture(scope="session")
def three_classes_run(tmp_path_factory):
    """A run on bags of three classes with groups; some bags have more instances than are shown."""
    from bagwise.bags.bags import Bags
    from bagwise.bags.folder import save_bags
    from bagwise.runs.execution import execute_run

    folder = tmp_path_factory.mktemp("three")
    generator = np.random.default_rng(0)
    labels = np.tile(["ant", "bee", "cow"], 12)
    sizes = generator.integers(3, 30, size=36)
    centres = np.tile([0.0, 1.0, 2.0], 12)
    bags = [generator.normal(centre, 1, (size, 3)) for centre, size in zip(centres, sizes, strict=True)]
    save_bags(Bags.from_list(bags, labels, groups=np.arange(36) // 2), folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    parameters = {"epochs": 2, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3, "validation": 0.3}
    return execute_run(folder / "run", {"data": data, "parameters": parameters})


@pytest.fixture(scope="session")
def read_files():
    """Return a function that reads the rows, weights and metrics of a run without bagwise."""

    def read(run):
        with (run.folder / "predictions.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        return rows, np.load(run.folder / "weights.npy"), json.loads((run.folder / "metrics.json").read_text())

    return read
