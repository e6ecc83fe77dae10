import importlib.util

import numpy as np
import pytest
import torch

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.training import TrainingSettings
from bagwise.training.engines import Choice, TorchEngine, choose_engine
from fused_problems import problem


def chosen(name, device="cpu", settings=None, **options):
    given = problem(dtype=torch.float32, **options)
    settings = settings or TrainingSettings(epochs=1000)
    return choose_engine(name, given.model, given.likelihood, given.task, settings, torch.device(device))


def without_numba(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numba" else find(name))


def test_auto_takes_the_fused_engine_where_it_can():
    assert chosen("auto").name == "fused"
    assert chosen("auto", encoder="two stages").name == "fused"
    assert str(chosen("auto")) == "engine: fused (its first use compiles it, which takes about half a minute)"
    assert chosen("torch") == Choice("torch", TorchEngine)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pooling": "noisy-or", "level": "instance"}, "NoisyOr is not among its parts"),
        ({"device": "meta"}, "the device is meta"),
        ({"settings": TrainingSettings(epochs=2)}, "few steps"),
        ({"settings": TrainingSettings(epochs=200)}, "few steps"),
    ],
)
def test_auto_falls_back_to_torch_and_says_why(options, reason):
    choice = chosen("auto", **options)
    assert choice.name == "torch"
    assert reason in choice.remark
    assert str(choice) == f"engine: torch ({choice.remark})"


def test_without_numba_auto_is_torch_and_fused_says_how_to_get_it(monkeypatch):
    without_numba(monkeypatch)
    assert chosen("auto").name == "torch"
    with pytest.raises(InputError, match=r"Numba is not installed \(pip install 'bagwise\[fast\]'\)"):
        chosen("fused")


def test_large_batches_are_left_to_torch_unless_fused_is_asked_for():
    settings = TrainingSettings(epochs=2000, batch_size=1)
    given = problem(dtype=torch.float32)
    rows, offsets = np.zeros((3000, 5)), np.arange(0, 3001, 250)
    task = given.task._replace(bags=given.task.bags.replace(instances=rows, offsets=offsets, names=None))
    arguments = (given.model, given.likelihood, task)
    large = TrainingSettings(epochs=2000, batch_size=4)
    assert choose_engine("auto", *arguments, settings, torch.device("cpu")).name == "fused"
    assert choose_engine("auto", *arguments, large, torch.device("cpu")).remark == "large batches"
    assert choose_engine("fused", *arguments, large, torch.device("cpu")).name == "fused"


def test_fewer_steps_are_worth_it_with_images():
    assert chosen("auto", encoder="two stages", settings=TrainingSettings(epochs=200)).name == "fused"


def test_convolutions_are_faster_in_large_batches_too():
    given = problem(encoder="two stages", dtype=torch.float32)
    images = np.zeros((3000, 12, 13, 3), np.uint8)
    bags = given.task.bags.replace(instances=images, offsets=np.arange(0, 3001, 250), names=None)
    settings = TrainingSettings(epochs=2000, batch_size=4)
    task = given.task._replace(bags=bags)
    assert choose_engine("auto", given.model, given.likelihood, task, settings, torch.device("cpu")).name == "fused"


def test_a_name_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="engine 'fussed' is unknown; did you mean 'fused'"):
        chosen("fussed")


def test_asking_for_fused_out_of_reach_is_an_error_of_the_estimator():
    bags = load_dataset("needles", n_bags=8)
    model = BagClassifier(pooling="sum", engine="fused", epochs=1)
    with pytest.raises(InputError, match="engine 'fused' cannot train this: Sum is not among its parts; use engine="):
        model.fit(bags, bags.labels)
    with pytest.raises(InputError, match="Sum is not among its parts"):
        model.check(bags, bags.labels)
