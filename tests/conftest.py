"""Shapes in signatures are checked in tests: jaxtyping's hook must be in place before bagwise is imported.

Only modules with shapes in their signatures are checked, because every checked call costs about ten microseconds.
"""

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

SOURCE = Path(__file__).parents[1] / "src"
SHAPED = [path for path in SOURCE.rglob("*.py") if "from jaxtyping import" in path.read_text(encoding="utf-8")]
install_import_hook([".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in SHAPED], "typecheck.check")

import torch  # noqa: E402 (after the hook)

torch.set_num_threads(1)  # two test processes share two cores …
os.environ.setdefault("OMP_NUM_THREADS", "1")  # … also with the commands that they run


@pytest.fixture(autouse=True)
def _fixed_seed():
    torch.manual_seed(5)


@pytest.fixture
def sealed(tmp_path):
    """A folder with a manifest."""
    from bagwise.io.manifest import write_manifest

    folder = tmp_path / "sealed"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.bin").write_bytes(b"one two three")
    (folder / "inner" / "b.bin").write_bytes(b"four")
    write_manifest(folder, "bags", count=2)
    return folder


@pytest.fixture(scope="session")
def digits_run(tmp_path_factory):
    """A small run on digits; it is shared, so a test that changes one copies it first."""
    from bagwise.runs.execution import execute_run

    data = {"data": "digits", "options": {"n_bags": 40}, "test": None, "split_seed": 1}
    parameters = {"epochs": 2, "random_state": 1, "batch_size": 8, "learning_rate": 1e-3}
    return execute_run(tmp_path_factory.mktemp("digits") / "run", {"data": data, "parameters": parameters})


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    from image_runs import make_images

    return make_images(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="session")
def image_runs(images, tmp_path_factory):
    """A folder with two runs, "attention" and "instances"."""
    from image_runs import make_runs

    return make_runs(tmp_path_factory.mktemp("runs"), images)
