"""What the tests of summaries share: a summary, a run of three classes, and the files of a run."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(scope="session")
def summary(digits_run):
    from bagwise.summary import summarise

    return summarise(digits_run)


@pytest.fixture(scope="session")
def three_classes(tmp_path_factory):
    """A run on a folder of bags of three classes and of groups, some of them larger than is shown."""
    from bagwise.bags import Bags
    from bagwise.runs import execute
    from bagwise.storage import save_bags

    folder = tmp_path_factory.mktemp("three")
    generator = np.random.default_rng(0)
    labels = np.tile(["ant", "bee", "cow"], 12)
    sizes = generator.integers(3, 30, size=36)
    centres = np.tile([0.0, 1.0, 2.0], 12)
    bags = [generator.normal(centre, 1, (size, 3)) for centre, size in zip(centres, sizes, strict=True)]
    save_bags(Bags.from_list(bags, labels, groups=np.arange(36) // 2), folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    parameters = {"epochs": 2, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3, "validation": 0.3}
    return execute(folder / "run", {"data": data, "parameters": parameters})


@pytest.fixture(scope="session")
def written():
    """Rows, weights and metrics of a run: its files, read without bagwise."""

    def read(run):
        with (run.folder / "predictions.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        return rows, np.load(run.folder / "weights.npy"), json.loads((run.folder / "metrics.json").read_text())

    return read
