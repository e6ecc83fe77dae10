"""Our training loop with one engine or the other, some epochs at a time, as the peers are run."""

from dataclasses import replace

import torch

from bagwise.estimators import BagClassifier
from bagwise.training import Trainer, infer


class OwnTraining:
    """A model that is trained on the bags it is judged by."""

    def __init__(self, engine, bags, **parameters):
        self.engine, self.bags = engine, bags
        self.estimator = BagClassifier(pooling="attention", random_state=0, **parameters)
        self.settings, self.task, _ = self.estimator._plan(bags, bags.labels, None)
        self.estimator.model_ = self.estimator._build(bags)

    def train_for(self, epochs):
        settings, estimator = replace(self.settings, epochs=epochs), self.estimator
        Trainer(estimator.model_, estimator.likelihood_, self.task, settings, engine=self.engine).run()

    def scores(self):
        return infer(self.estimator.model_, self.bags, torch.device("cpu")).scores.ravel()
