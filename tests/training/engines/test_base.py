import dataclasses

import numpy as np
import pytest
import torch

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.training.batches import TrainingTask
from bagwise.training.engines.base import BatchSums, DivergedError, Engine, TrainingProblem
from bagwise.training.loop import Trainer
from bagwise.training.settings import TrainingSettings
from unchecked import unchecked


class RecordingEngine(Engine):
    """Engine that records its calls and does not train."""

    name = "recording"
    stride = 6

    def __init__(self, problem):
        self.problem, self.calls = problem, []
        RecordingEngine.last = self

    def run(self, batches, first_step, learning_rate):
        self.calls.append((batches, first_step, learning_rate))
        return BatchSums(loss=sum(len(batch) for batch in batches), errors=0.0)


class FailingEngine(RecordingEngine):
    def run(self, batches, first_step, learning_rate):
        raise DivergedError(batch=2, bag=4)


def make_trainer(engine):
    bags = load_dataset("needles", n_bags=10)
    fitted = BagClassifier(epochs=1, random_state=0).fit(bags, bags.labels)
    return Trainer(
        model=fitted.model_,
        likelihood=fitted.likelihood_,
        task=TrainingTask(bags, bags.labels.astype(np.int64), np.ones(10, dtype=np.float32)),
        settings=TrainingSettings(epochs=2, batch_size=2, schedule="linear", learning_rate=0.1),
        engine=engine,
    )


def test_engine_receives_batches_according_to_its_stride_with_step_and_learning_rate():
    """There are five batches of two bags per epoch and about six bags per call. Steps are counted over all epochs."""
    history = make_trainer(RecordingEngine).run()
    calls = [(len(batches), first_step, rate) for batches, first_step, rate in RecordingEngine.last.calls]
    assert calls == [(3, 0, 0.1), (2, 3, 0.1), (3, 5, 0.05), (2, 8, 0.05)]
    assert [epoch.loss for epoch in history] == [1.0, 1.0], "the loop divides the sums by the number of bags"


def test_engine_receives_every_bag_once_per_epoch_in_a_new_order():
    make_trainer(RecordingEngine).run()
    bags = [int(bag) for batches, _, _ in RecordingEngine.last.calls for bag in np.concatenate(batches)]
    assert sorted(bags[:10]) == sorted(bags[10:]) == list(range(10))
    assert bags[:10] != bags[10:]


def test_diverged_error_of_an_engine_is_reported_with_bag_epoch_and_batch():
    with pytest.raises(InputError, match=r"loss of bag 'bag-0004' is not finite in epoch 1, batch 3"):
        make_trainer(FailingEngine).run()


def test_training_problem_is_keyword_only_and_frozen():
    make_trainer(RecordingEngine).run()
    problem = RecordingEngine.last.problem
    assert (problem.seed, problem.device, problem.precision) == (0, torch.device("cpu"), "full")
    with unchecked(), pytest.raises(TypeError, match="positional"):
        TrainingProblem(problem.model, problem.likelihood)
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.seed = 1
