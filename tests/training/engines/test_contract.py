import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.training import Task, Trainer, TrainingSettings
from bagwise.training.engines import Diverged, Engine, Sums


class Noting(Engine):
    """Trains nothing; notes what it is asked to do."""

    name = "noting"
    stride = 6

    def __init__(self, problem):
        self.problem, self.calls = problem, []
        Noting.last = self

    def run(self, batches, first_step, learning_rate):
        self.calls.append((len(batches), first_step, learning_rate))
        return Sums(sum(len(batch) for batch in batches), 0.0)


class Failing(Noting):
    def run(self, batches, first_step, learning_rate):
        raise Diverged(batch=2, bag=4)


def trainer(engine, **settings):
    bags = load_dataset("needles", n_bags=10)
    fitted = BagClassifier(epochs=1, random_state=0).fit(bags, bags.labels)
    task = Task(bags, bags.labels.astype(np.int64), np.ones(10, dtype=np.float32))
    settings = TrainingSettings(epochs=2, batch_size=2, schedule="linear", learning_rate=0.1, **settings)
    return Trainer(fitted.model_, fitted.likelihood_, task, settings, engine=engine)


def test_an_engine_gets_its_stride_the_step_and_the_learning_rate_of_the_epoch():
    """Five batches of two bags an epoch, about six bags a call; steps count through the epochs."""
    history = trainer(Noting).run()
    assert Noting.last.calls == [(3, 0, 0.1), (2, 3, 0.1), (3, 5, 0.05), (2, 8, 0.05)]
    assert [epoch.loss for epoch in history] == [1.0, 1.0], "the loop divides the sums by the number of bags"


def test_the_batches_of_an_epoch_hold_every_bag_once():
    seen = []

    class Keeping(Noting):
        def run(self, batches, first_step, learning_rate):
            seen.extend(np.concatenate(batches))
            return super().run(batches, first_step, learning_rate)

    trainer(Keeping).run()
    assert sorted(seen[:10]) == sorted(seen[10:]) == list(range(10))
    assert seen[:10] != seen[10:]


def test_a_bag_that_diverges_within_a_call_is_named_with_its_batch():
    with pytest.raises(InputError, match=r"loss of bag 'bag-0004' is not finite in epoch 1, batch 3"):
        trainer(Failing).run()
