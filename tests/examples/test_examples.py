"""The examples run unchanged, in an empty folder, and write the files that they name."""

import contextlib
import runpy
import sys
from unittest import mock

import numpy as np
import pytest

from documented import ROOT
from unchecked import unchecked

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WRITTEN = {
    "augmented_patches.py": "patches.png",
    "compare_methods.py": None,
    "explain_a_bag.py": "why.png",
    "first_model.py": "model/model.json",
    "key_instances.py": None,
    "your_table.py": "comparison/plan.json",
}
LONGEST = 40  # lines


@pytest.fixture
def _tissue(monkeypatch):
    """Coloured patches under a name: the data set that an example is made for has to be fetched."""
    from bagwise.bags.bags import Bags
    from bagwise.data.datasets.registry import DATASETS, DataSet

    patches = np.random.default_rng(0).integers(0, 256, (12, 27, 27, 3), dtype=np.uint8)
    monkeypatch.setitem(DATASETS, "tissue", DataSet(lambda: Bags.from_list([patches]), (), "patches"))


@pytest.mark.usefixtures("_tissue")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, tmp_path, capsys):
    words = ["tissue", "patches.png"] if example.name == "augmented_patches.py" else []
    typed = mock.patch.object(sys, "argv", [str(example), *words])
    with contextlib.chdir(tmp_path), typed, unchecked():
        runpy.run_path(str(example), run_name="__main__")
    written = WRITTEN[example.name]
    assert capsys.readouterr().out if written is None else (tmp_path / written).stat().st_size


def test_examples_exist_and_are_short():
    assert len(EXAMPLES) >= 5
    for example in EXAMPLES:
        assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST, example.name
