"""Our training loop with a given engine, run a few epochs at a time like the other implementations."""

from dataclasses import replace

import torch

from bagwise.estimators import BagClassifier
from bagwise.training import Trainer, run_inference


class OwnTraining:
    """A model that is trained and evaluated on the same bags."""

    def __init__(self, engine, bags, **parameters):
        self.engine, self.bags = engine, bags
        self.estimator = BagClassifier(pooling="attention", random_state=0, **parameters)
        self.settings, self.task, _ = self.estimator._plan(bags, bags.labels, None)
        self.estimator.model_ = self.estimator._build(bags)

    def train_for(self, epochs):
        settings, estimator = replace(self.settings, epochs=epochs), self.estimator
        Trainer(estimator.model_, estimator.likelihood_, self.task, settings, engine=self.engine).run()

    def scores(self):
        return run_inference(self.estimator.model_, self.bags, torch.device("cpu")).scores.ravel()
