import pytest
import torch

from bagwise.errors import InputError
from bagwise.training.devices import available, resolve


def test_auto_is_a_device_that_is_there():
    assert available()[resolve("auto").type]


def test_unknown_and_missing_devices_are_refused_with_what_is_there():
    with pytest.raises(InputError, match="choose one of: auto, cpu"):
        resolve("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="not available here"):
            resolve("cuda")
