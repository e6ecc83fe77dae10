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
def test_impossible_settings_are_refused_by_name(field, value):
    with unchecked(), pytest.raises(InputError, match=f"^{field} "):
        TrainingSettings(**{field: value})


def test_nesterov_needs_momentum():
    with pytest.raises(InputError, match=r"^momentum is 0, and nesterov"):
        TrainingSettings(optimizer="nesterov", momentum=0.0)


def test_numbers_of_numpy_become_plain_ones_that_a_checkpoint_can_hold():
    given = {"epochs": np.int64(3), "learning_rate": np.float32(0.5), "patience": np.int8(2), "weight_decay": 0}
    with unchecked():
        settings = asdict(TrainingSettings(**given))
    assert json.loads(json.dumps(settings)) == settings
    assert settings == {**asdict(TrainingSettings()), **given}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_start_at_the_learning_rate_and_never_rise(schedule):
    settings = TrainingSettings(epochs=10, learning_rate=0.1, schedule=schedule)
    rates = [settings.learning_rate_at(epoch) for epoch in range(10)]
    assert rates[0] == pytest.approx(0.1)
    assert all(later <= earlier for earlier, later in pairwise(rates))
    assert min(rates) > 0


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_optimizer_is_torchs_with_l2_penalty(name):
    """One step against the textbook formula."""
    weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
    settings = TrainingSettings(optimizer=name, learning_rate=0.1, weight_decay=0.5, momentum=0.9)
    optimizer = settings.build_optimizer([weight])
    weight.grad = torch.tensor([3.0], dtype=torch.float64)
    optimizer.step()
    gradient = 3.0 + 0.5 * 2.0
    steps = {
        "sgd": gradient,
        "nesterov": gradient + 0.9 * gradient,  # looks ahead along the momentum, which is the gradient so far
        "adam": gradient / (abs(gradient) + 1e-8),  # the first step is a sign
    }
    assert weight.item() == pytest.approx(2.0 - 0.1 * steps[name], abs=1e-9)
