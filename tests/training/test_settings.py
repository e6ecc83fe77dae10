import json
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.training.settings import OPTIMIZERS, SCHEDULES, TrainingSettings
from unchecked import unchecked


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 0),
        ("batch_size", 0),
        ("patience", 0),
        ("averaging", 1.0),
        ("most_instances", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("weight_decay", -1.0),
        ("momentum", 1.0),
        ("optimizer", "adamw"),
        ("schedule", "cosin"),
        ("epochs", "3"),
        ("epochs", 1.5),
        ("epochs", True),
        ("batch_size", 1.5),
        ("batch_size", None),
        ("patience", 1.5),
        ("learning_rate", "a"),
        ("learning_rate", True),
        ("weight_decay", None),
        ("momentum", "0.9"),
        ("optimizer", None),
        ("schedule", 3),
        ("seed", -1),
        ("seed", "a"),
    ],
)
def test_training_settings_reject_impossible_values_with_the_name_of_the_field(field, value):
    with unchecked(), pytest.raises(InputError, match=f"^{field} "):
        TrainingSettings(**{field: value})


def test_training_settings_reject_nesterov_without_momentum():
    with pytest.raises(InputError, match="optimizer='nesterov' needs momentum > 0, got 0"):
        TrainingSettings(optimizer="nesterov", momentum=0.0)


def test_training_settings_convert_numpy_numbers_to_json_numbers():
    given = {"epochs": np.int64(3), "learning_rate": np.float32(0.5), "patience": np.int8(2), "weight_decay": 0}
    with unchecked():
        settings = asdict(TrainingSettings(**given))
    assert json.loads(json.dumps(settings)) == settings
    assert settings == {**asdict(TrainingSettings()), **given}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_learning_rate_at_starts_at_the_learning_rate_and_never_rises(schedule):
    settings = TrainingSettings(epochs=10, learning_rate=0.1, schedule=schedule)
    rates = [settings.learning_rate_at(epoch) for epoch in range(10)]
    assert rates[0] == pytest.approx(0.1)
    assert all(later <= earlier for earlier, later in pairwise(rates))
    assert min(rates) > 0


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_build_optimizer_makes_one_step_of_the_textbook_formula_with_l2_penalty(name):
    weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
    settings = TrainingSettings(optimizer=name, learning_rate=0.1, weight_decay=0.5, momentum=0.9)
    optimizer = settings.build_optimizer([weight])
    weight.grad = torch.tensor([3.0], dtype=torch.float64)
    optimizer.step()
    gradient = 3.0 + 0.5 * 2.0
    steps = {
        "sgd": gradient,
        "nesterov": gradient + 0.9 * gradient,  # the momentum after one step is the gradient
        "adam": gradient / (abs(gradient) + 1e-8),  # the first step is the sign of the gradient
    }
    assert weight.item() == pytest.approx(2.0 - 0.1 * steps[name], abs=1e-9)
