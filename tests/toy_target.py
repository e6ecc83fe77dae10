"""A toy target in one file: the number of key instances in a bag, with a Poisson likelihood."""

import numpy as np
import torch

from bagwise.estimators import BagNetwork
from bagwise.targets import Likelihood, Metric, Output, Target, register_target


class Poisson(Likelihood):  # one score, the logarithm of the rate
    name, n_scores = "poisson", 1

    def outputs(self, scores):
        return scores.exp()

    def link(self, outputs):
        return np.log(np.maximum(outputs, 1e-12))

    def loss(self, scores, targets):
        return scores[:, 0].exp() - targets * scores[:, 0] + torch.lgamma(targets + 1)

    def errors(self, scores, targets):
        return (scores[:, 0].exp() - targets).abs()


def compute_mean_absolute_error(targets, outputs, threshold):
    return float(np.abs(outputs[:, 0] - targets).mean())


@register_target
class Counts(Target):
    """Counts; the output is the expected count."""

    kind, main_metrics, headline_metrics = "counts", ("mean_absolute_error",), ("mean_absolute_error",)

    def __init__(self):
        self.likelihood, self.outputs = Poisson(), (Output("rate", "needles", "rate", 0.0, np.inf),)
        error = Metric(self.main_metrics[0], "Mean absolute error", "of the rate", 0.0, np.inf, False,
                       compute_mean_absolute_error, 0)  # fmt: skip
        self.metrics = {error.name: error}

    @classmethod
    def learn(cls, y, n_bags, positive=None):
        return cls()

    def encode(self, y, n_bags):
        return np.asarray(y, dtype=np.float32)

    def decide(self, outputs, threshold):
        return outputs[:, 0].astype(np.float32)

    def describe(self):
        return "counts"


class BagCounter(BagNetwork):
    """A network that predicts counts."""

    target = "counts"
