"""NaN or infinity in the loss: training stops with a message that names the bag, and keeps the last good checkpoint."""

import re

import pytest

from bagwise.errors import InputError
from bagwise.estimators.registry import get_preset
from bagwise.runs.execution import execute_run
from faults.processes import find_leftovers, read_epoch

DATA = {"data": "needles", "options": {"n_bags": 30}, "test": None}
DIVERGING = {
    "optimizer": "sgd",
    "momentum": 0.0,
    "learning_rate": 1.0,
    "weight_decay": 4.0,
    "dropout": 0.0,
    **get_preset("paper"),
}


@pytest.mark.parametrize("engine", ["torch", "fused"])
def test_execute_run_names_the_bag_and_keeps_the_last_good_checkpoint_on_divergence(tmp_path, engine):
    """Weight decay multiplies the weights by −3 in each step, so they overflow in the fourth epoch."""
    if engine == "fused":
        pytest.importorskip("numba")
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    parameters = {"encoder": "identity", "pooling": "mean", "engine": engine, "random_state": 0, **DIVERGING}
    found = []
    for resume in (False, True):
        with pytest.raises(InputError) as error:
            execute_run(tmp_path / "run", {"data": DATA, "parameters": parameters}, resume=resume)
        found.append((str(error.value), checkpoint.read_bytes()))
    assert re.match(
        r"the loss of bag 'bag-\d{4}' is not finite in epoch 4, batch \d+; check the values of that bag", found[0][0]
    )
    assert found[0][0].endswith(f"the last good state is saved in {checkpoint}")
    assert read_epoch(checkpoint) == 3
    assert found[1] == found[0], "resuming from the last good state fails at the same bag"
    assert find_leftovers(tmp_path) == []
