import pytest
import torch

from bagwise.errors import InputError
from bagwise.training.devices import available, resolve
from unchecked import unchecked


def test_auto_is_a_device_that_is_there():
    assert available()[resolve("auto").type]


def test_a_device_of_torch_stays_what_it_is():
    assert resolve(torch.device("cpu")) == torch.device("cpu")


def test_unknown_and_missing_devices_are_refused_with_what_is_there():
    with pytest.raises(InputError, match="choose one of: auto, cpu"):
        resolve("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="not available here"):
            resolve("cuda")


@pytest.mark.parametrize("device", [None, 0])
def test_what_is_no_name_is_refused_with_what_is_there(device):
    with unchecked(), pytest.raises(InputError, match=r"device is .*; give one of: auto, cpu"):
        resolve(device)
