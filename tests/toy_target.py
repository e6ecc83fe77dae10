"""Toy targets in one file: the number of key instances in a bag, or two numbers, with a Poisson likelihood."""

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


class TwoPoissons(Likelihood):  # two scores, the logarithms of the rates; an unknown count is NaN
    name, n_scores = "two poissons", 2

    def outputs(self, scores):
        return scores.exp()

    def link(self, outputs):
        return np.log(np.maximum(outputs, 1e-12))

    def loss(self, scores, targets):
        known = torch.nan_to_num(targets)
        return ((scores.exp() - known * scores) * ~targets.isnan()).sum(dim=1)

    def errors(self, scores, targets):
        return (scores.exp() - targets).abs().nanmean(dim=1)


def compute_mean_error(targets, outputs, threshold):
    return float(np.nanmean(np.abs(outputs - targets)))


@register_target
class PairCounts(Target):
    """Two counts per bag, in two columns."""

    kind, main_metrics, headline_metrics = "pair counts", ("mean_absolute_error",), ("mean_absolute_error",)

    def __init__(self):
        self.likelihood = TwoPoissons()
        self.outputs = tuple(Output(f"rate {name}", name, "rate", 0.0, np.inf) for name in ("first", "second"))
        error = Metric(self.main_metrics[0], "Mean absolute error", "of the rates", 0.0, np.inf, False,
                       compute_mean_error, 0)  # fmt: skip
        self.metrics = {error.name: error}

    @classmethod
    def learn(cls, y, n_bags, positive=None):
        return cls()

    def encode(self, y, n_bags):
        return np.asarray(y, dtype=np.float32).reshape(n_bags, 2)

    def decide(self, outputs, threshold):
        return np.rint(outputs).astype(np.float32)

    def describe(self):
        return "two counts"


@register_target
class Durations(Counts):
    """Times with events; the output is a rate of events, and the predicted value is its inverse."""

    kind = "durations"

    def encode(self, y, n_bags):
        return np.asarray(y["event"] / y["time"], dtype=np.float32)

    def encode_names(self, names):
        pairs = [name if isinstance(name, tuple) else (name, "True") for name in names]
        return np.array([(event == "True") / float(time) for time, event in pairs], dtype=np.float32)

    def decode(self, targets):
        labels = np.empty(len(targets), dtype=[("event", bool), ("time", float)])
        labels["event"], labels["time"] = targets > 0, 1 / np.maximum(targets, 1e-3)
        return labels

    def decide(self, outputs, threshold):
        return outputs[:, 0].astype(np.float32)

    def describe(self):
        return "times with events"


class BagCounter(BagNetwork):
    """A network that predicts counts."""

    target = "counts"
