"""NaN / infinity in the loss: training is stopped, the last good checkpoint is kept, the bag is named."""

import re

import pytest

from bagwise.errors import InputError
from bagwise.runs.execution import execute_run
from faults.processes import epochs_of, left_behind

DATA = {"data": "needles", "options": {"n_bags": 30}, "test": None}
DRIVEN_OUT = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0, "weight_decay": 4.0, "dropout": 0.0}


@pytest.mark.parametrize("engine", ["torch", "fused"])
def test_a_training_that_diverges(tmp_path, engine):
    """Weight decay triples the weights each step, until they leave the range of numbers in the fourth epoch."""
    if engine == "fused":
        pytest.importorskip("numba")
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    parameters = {"encoder": "identity", "pooling": "mean", "engine": engine, "random_state": 0, **DRIVEN_OUT}
    found = []
    for resume in (False, True):
        with pytest.raises(InputError) as error:
            execute_run(tmp_path / "run", {"data": DATA, "parameters": parameters}, resume=resume)
        found.append((str(error.value), checkpoint.read_bytes()))
    assert re.match(
        r"the loss of bag 'bag-\d{4}' is not finite in epoch 4, batch \d+; check the values of that bag", found[0][0]
    )
    assert found[0][0].endswith(f"the last good state is saved in {checkpoint}")
    assert epochs_of(checkpoint) == 3
    assert found[1] == found[0], "a resume from the last good state meets the same bag"
    assert left_behind(tmp_path) == []
