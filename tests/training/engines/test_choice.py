import importlib.util

import numpy as np
import pytest
import torch

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.parallel.ranks import Ranks
from bagwise.training.batches import bags_to_tensors
from bagwise.training.engines import choice as choice_module
from bagwise.training.engines.choice import EngineChoice, choose_engine
from bagwise.training.engines.torch_engine import TorchEngine
from bagwise.training.settings import TrainingSettings
from contexts import AddedMean
from fused_problems import problem

MANY_STEPS = TrainingSettings(epochs=1000)


def choose(name, device="cpu", settings=MANY_STEPS, **options):
    return choose_for(name, problem(dtype=torch.float32, **options), settings, device=device)


def choose_for(name, given, settings, bags=None, device="cpu"):
    task = given.task if bags is None else given.task._replace(bags=bags)
    return choose_engine(name, given.model, given.likelihood, task, settings, torch.device(device))


def test_choose_engine_auto_is_fused_for_supported_models():
    assert choose("auto").name == "fused"
    assert choose("auto", encoder="two stages").name == "fused"
    assert str(choose("auto")) == "engine: fused"
    assert choose("auto").preparation == "compiling, once, about 10 s"


def test_choose_engine_returns_the_requested_engine():
    assert choose("torch") == EngineChoice("torch", TorchEngine)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pooling": "noisy-or", "level": "instance"}, "NoisyOr"),
        ({"device": "meta"}, "the device is meta"),
        ({"settings": TrainingSettings(epochs=2)}, "few steps"),
        ({"settings": TrainingSettings(epochs=200)}, "few steps"),
    ],
)
def test_choose_engine_auto_falls_back_to_torch_and_states_the_reason(options, reason):
    choice = choose("auto", **options)
    assert choice.name == "torch"
    assert reason in choice.remark
    assert str(choice) == f"engine: torch ({choice.remark})"


def test_choose_engine_with_a_context_is_torch_and_fused_is_rejected_with_the_reason():
    given = problem(dtype=torch.float32)
    width = given.model.embed(*bags_to_tensors(given.task.bags, torch.device("cpu"))).shape[1]
    given.model.context = AddedMean(width)
    choice = choose_for("auto", given, MANY_STEPS)
    assert (choice.name, choice.remark) == ("torch", "the model has a context")
    with pytest.raises(InputError, match="engine 'fused' cannot train this model: the model has a context; use engine"):
        choose_for("fused", given, MANY_STEPS)


def test_choose_engine_without_numba_is_torch_and_fused_names_the_installation_command(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numba" else find_spec(name))
    assert choose("auto").name == "torch"
    with pytest.raises(InputError, match=r"Numba is not installed \(pip install 'bagwise\[fast\]'\)"):
        choose("fused")


def test_choose_engine_auto_is_torch_for_large_batches():
    given = problem(dtype=torch.float32)
    bags = given.task.bags.replace(instances=np.zeros((3000, 5)), offsets=np.arange(0, 3001, 250), names=None)
    one, four = (TrainingSettings(epochs=2000, batch_size=size) for size in (1, 4))
    assert choose_for("auto", given, one, bags).name == "fused"
    assert choose_for("auto", given, four, bags).remark == "large batches"
    assert choose_for("fused", given, four, bags).name == "fused"


def test_choose_engine_auto_is_fused_for_large_batches_of_images():
    given = problem(encoder="two stages", dtype=torch.float32)
    images = np.zeros((3000, 12, 13, 3), np.uint8)
    bags = given.task.bags.replace(instances=images, offsets=np.arange(0, 3001, 250), names=None)
    assert choose_for("auto", given, TrainingSettings(epochs=2000, batch_size=4), bags).name == "fused"


def test_choose_engine_auto_is_fused_for_fewer_steps_with_images():
    assert choose("auto", encoder="two stages", settings=TrainingSettings(epochs=200)).name == "fused"


def test_choose_engine_in_several_processes_rejects_fused_and_small_batches(monkeypatch):
    monkeypatch.setattr(choice_module, "get_ranks", lambda: Ranks(0, 3))
    with pytest.raises(InputError, match="this run has 3 processes; use engine='torch'"):
        choose("fused")
    with pytest.raises(InputError, match=r"has 3 processes, but batch_size=2, .*use --batch-size 3 or more"):
        choose("auto", settings=TrainingSettings(batch_size=2))
    assert str(choose("auto", settings=TrainingSettings(batch_size=3))) == "engine: torch (3 processes)"


def test_choose_engine_rejects_an_unknown_name():
    with pytest.raises(InputError, match="engine 'fussed' is unknown; did you mean 'fused'"):
        choose("fussed")


def test_fit_and_check_reject_the_fused_engine_for_a_model_that_it_does_not_support():
    bags = load_dataset("needles", n_bags=8)
    model = BagClassifier(pooling="sum", engine="fused", epochs=1)
    for method in (model.fit, model.check):
        with pytest.raises(
            InputError, match=r"engine 'fused' cannot train this model: .*Sum.*; use engine='auto' or engine='torch'"
        ):
            method(bags, bags.labels)
