"""The explanation of any estimator's judgement: its own probabilities and weights, and what made up the scores.

    network, linear in its embeddings      closed form
    any other network, classical method    sampled orders
    ensemble, committee, super learner     the mean over the members: of their scores, baselines and contributions
    adjusted, selected                     that of the estimator that is held, before its probabilities are adjusted

So where members vote the score is the mean of their scores; the probability is, as ever, the mean of their
probabilities, whose log odds are a little nearer to even.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators import BagClassifier, BagEstimator
from bagwise.estimators.holding.delegating import DelegatingEstimator
from bagwise.estimators.holding.voting import Voting
from bagwise.estimators.taking import as_bags
from bagwise.explain.closed_form import closed_form, has_closed_form
from bagwise.explain.contract import Attribution, Explanation
from bagwise.explain.orders import cheap_steps, dear_steps, sampled_orders
from bagwise.explain.running import walking
from bagwise.explain.subsets import judging
from bagwise.quantities import whole_number
from bagwise.training.devices import resolve
from bagwise.training.streaming import streams


def explain(estimator: BagEstimator, bags: Any, *, orders: int = 8) -> Explanation:
    """Judge bags and say what each instance contributed.

    orders : through each bag where contributions have no closed form; more of them take longer and vary less

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> why = explain(BagClassifier(epochs=3, random_state=0).fit(bags, bags.labels), bags)
    >>> sums = np.add.reduceat(why.contributions, bags.offsets[:-1])
    >>> why.method, bool(np.allclose(why.baseline + sums, why.scores, rtol=1e-12))
    ('closed form', True)
    """
    orders, bags = whole_number("orders", orders, least=1), as_bags(bags)
    probabilities, weights = estimator.judge(bags)
    found = attribute(estimator, bags, weights, orders)
    return Explanation(estimator.classes_, probabilities, weights, *found)


@singledispatch
def attribute(estimator: BagEstimator, bags: Bags, weights: np.ndarray, orders: int) -> Attribution:
    """What the scores of bags are made of; one function for each kind of estimator."""
    return sampled_orders(bags, weights, orders, judging(estimator), dear_steps)


@attribute.register
def _(estimator: BagClassifier, bags: Bags, weights: np.ndarray, orders: int) -> Attribution:
    device = resolve(estimator.device)
    model = estimator.model_.to(device)
    if has_closed_form(model):
        return closed_form(model, bags, device)
    if streams(model):
        return sampled_orders(bags, weights, orders, walking(model, estimator.likelihood_, device), cheap_steps)
    return sampled_orders(bags, weights, orders, judging(estimator), dear_steps)


@attribute.register
def _(estimator: DelegatingEstimator, bags: Bags, weights: np.ndarray, orders: int) -> Attribution:
    return attribute(estimator.model_, bags, weights, orders)


@attribute.register
def _(estimator: Voting, bags: Bags, weights: np.ndarray, orders: int) -> Attribution:
    found = [attribute(member, bags, weights, orders) for member in estimator.members_]
    return Attribution(
        scores=estimator.heard([each.scores for each in found]),
        baseline=estimator.heard([each.baseline for each in found]),
        contributions=estimator.heard([each.contributions for each in found]),
        method=" and ".join(sorted({each.method for each in found})),
    )
