"""Targets as JSON."""

import json

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.targets.classes import ClassTarget
from bagwise.targets.registry import learn_target, restore_target, save_target

WORDS = np.array(["no", "yes"])
TARGETS = [ClassTarget(WORDS, "no"), ClassTarget(np.arange(4)), ClassTarget(np.array([0.5, 2]))]


@pytest.mark.parametrize("target", TARGETS)
def test_restore_target_restores_a_saved_target(target):
    restored = restore_target(json.loads(json.dumps(save_target(target))))
    assert (restored.names, restored.positive, restored.classes.dtype) == (
        target.names,
        target.positive,
        target.classes.dtype,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "colours"}, "unknown kind 'colours'"),
        ({"values": ["no", "no"]}, "not distinct"),
        ({"positive": 2}, "positive class"),
        ({"positive": True}, "positive class"),
    ],
)
def test_restore_target_rejects_invalid_content(change, message):
    with pytest.raises(ValueError, match=message):
        restore_target({**save_target(ClassTarget(WORDS)), **change})


@pytest.mark.parametrize("y", [np.zeros((3, 2)), np.zeros(3, dtype=[("event", bool), ("time", float)])], ids=str)
@pytest.mark.parametrize("kind", ["auto", "classes"])
def test_learn_target_refuses_labels_that_no_kind_accepts(y, kind):
    with pytest.raises(InputError, match="but classes need one label per bag; choose one column with --data-option"):
        learn_target(kind, y, 3)
