"""The examples run unchanged, in an empty folder, and write the files that they name."""

import contextlib
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
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
    "mlflow_callback.py": "model/model.json",
    "tensorboard_callback.py": None,
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


class LoggerFake:
    """Records the calls of the two loggers, which need not be installed, with their signatures."""

    def __init__(self):
        self.calls, self.is_open = [], None

    def open(self, folder):
        self.is_open = True
        return self

    def add_scalar(self, tag, scalar_value, global_step=None):
        self.calls.append((tag, float(scalar_value), int(global_step)))

    def log_metrics(self, metrics, step=None):
        self.calls += [(name, float(value), int(step)) for name, value in metrics.items()]

    def log_params(self, params):
        self.parameters = params

    def log_artifacts(self, local_dir, artifact_path=None):
        self.artifacts = sorted(path.name for path in Path(local_dir).iterdir())

    def close(self):
        self.is_open = False

    @contextlib.contextmanager
    def start_run(self):
        self.is_open = True
        yield self
        self.is_open = False


@pytest.fixture(autouse=True)
def logger(monkeypatch):
    fake = LoggerFake()
    board = SimpleNamespace(SummaryWriter=fake.open)
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    return fake


@pytest.mark.parametrize("name", ["mlflow_callback.py", "tensorboard_callback.py"])
def test_callbacks_log_every_epoch(name, logger, tmp_path):
    with contextlib.chdir(tmp_path):
        model = runpy.run_path(str(ROOT / "examples" / name))["model"]
    for value in ("loss", "error", "validation_loss", "validation_error"):
        expected = [(value, getattr(record, value), record.epoch) for record in model.history_]
        assert [call for call in logger.calls if call[0] == value] == expected
    assert logger.is_open is False, "it was opened and closed"
    if name == "mlflow_callback.py":
        assert logger.parameters["epochs"] == 5
        assert "model.json" in logger.artifacts


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
