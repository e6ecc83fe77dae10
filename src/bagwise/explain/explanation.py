"""Explanation of any estimator: its outputs and weights, and the contribution of every instance.

    network, linear in its embeddings      closed form
    other networks, classical methods      Shapley values by sampled permutations
    network with a context                 the same, where every prefix of a permutation is predicted as a bag
    ensemble, committee, super learner     weighted mean of the members' scores, baselines and contributions
    adjusted, selected                     as for the wrapped estimator

Slope and offset of a calibration are linear, so they scale the contributions and shift the baseline.

For an ensemble the score is the mean of the members' scores, whereas the probability is the mean of their
probabilities. The log odds of that probability are therefore slightly closer to zero than the score.
"""

from functools import singledispatch

import numpy as np
import torch

from bagwise.arguments import check_whole_number
from bagwise.bags import Bags
from bagwise.estimators import Adjusted, BagEstimator, BagNetwork, BagsLike, DelegatingEstimator, Voting, as_bags
from bagwise.explain.attribution import Attribution, Explanation
from bagwise.explain.closed_form import attribute_in_closed_form, has_closed_form
from bagwise.explain.deletion import make_estimator_scorer, make_prefix_scorer
from bagwise.explain.shapley import (
    PrefixScorer,
    choose_rescored_blocks,
    choose_streamed_blocks,
    estimate_shapley_values,
    make_network_scorer,
)
from bagwise.training import resolve_device, run_inference
from bagwise.training.streaming import is_streamable, resolve_memory


def explain_bags(estimator: BagEstimator, bags: BagsLike, *, orders: int = 8) -> Explanation:
    """Predict bags and compute the contribution of every instance.

    Parameters
    ----------
    estimator : BagEstimator
        A fitted estimator.
    bags : Bags, list of array-like, or array-like of shape (n_bags, n_features)
        The bags to explain.
    orders : int, default=8
        Number of permutations of the instances to sample per bag, if contributions have no closed form. More
        permutations take longer and reduce the variance.

    Returns
    -------
    Explanation
        Outputs, weights, scores, baseline and contributions.

    Raises
    ------
    InputError
        If ``orders`` is not a positive integer, or the bags are invalid.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> from bagwise.estimators import BagClassifier
    >>> bags = load_dataset("needles", n_bags=60)
    >>> explanation = explain_bags(BagClassifier(epochs=3, random_state=0).fit(bags, bags.labels), bags)
    >>> sums = np.add.reduceat(explanation.contributions, bags.offsets[:-1])
    >>> explanation.method, bool(np.allclose(explanation.baseline + sums, explanation.scores, rtol=1e-12))
    ('closed form', True)
    """
    n_permutations, bags = check_whole_number("orders", orders, minimum=1), as_bags(bags)
    outputs, weights = estimator.predict_with_weights(bags)
    attribution = attribute_scores(estimator, bags, weights, n_permutations)
    return Explanation(
        names=tuple(output.title for output in estimator.target_.outputs),
        outputs=outputs,
        weights=weights,
        scores=attribution.scores,
        baseline=attribution.baseline,
        contributions=attribution.contributions,
        method=attribution.method,
    )


@singledispatch
def attribute_scores(estimator: BagEstimator, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    """Attribute the scores of bags to their instances; one implementation per kind of estimator."""
    scorer = make_estimator_scorer(estimator)
    return estimate_shapley_values(bags, weights, n_permutations, scorer, choose_rescored_blocks)


@attribute_scores.register
def _(estimator: BagNetwork, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    return _calibrate(estimator, _attribute_network(estimator, bags, weights, n_permutations))


def _attribute_network(estimator: BagNetwork, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    device = resolve_device(estimator.device)
    model = estimator.model_.to(device)
    if has_closed_form(model):
        return attribute_in_closed_form(model, estimator.likelihood_, bags, device)
    if is_streamable(model) and not model.mixes_instances:
        scorer = make_network_scorer(model, estimator.likelihood_, device)
        return estimate_shapley_values(bags, weights, n_permutations, scorer, choose_streamed_blocks)
    scorer = _make_whole_bag_scorer(estimator, device)
    return estimate_shapley_values(bags, weights, n_permutations, scorer, choose_rescored_blocks)


def _make_whole_bag_scorer(estimator: BagNetwork, device: torch.device) -> PrefixScorer:
    """Return a scorer for a network of any kind."""
    memory = resolve_memory(estimator.memory, device)
    return make_prefix_scorer(
        lambda bags: run_inference(estimator.model_, bags, device, memory=memory).scores,
        lambda scores: estimator.likelihood_.score_outputs(scores.astype(np.float64)),
    )


def _calibrate(estimator: BagNetwork | Adjusted, attribution: Attribution) -> Attribution:
    """Return the attribution of the calibrated scores."""
    slope, offset = estimator.calibration_
    shift = estimator.target_.likelihood.score_outputs(offset[None])[0]
    return attribution._replace(
        scores=slope * attribution.scores + shift,
        baseline=slope * attribution.baseline + shift,
        contributions=slope * attribution.contributions,
    )


@attribute_scores.register
def _(estimator: DelegatingEstimator, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    return attribute_scores(estimator.model_, bags, weights, n_permutations)


@attribute_scores.register
def _(estimator: Adjusted, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    return _calibrate(estimator, attribute_scores(estimator.model_, bags, weights, n_permutations))


@attribute_scores.register
def _(estimator: Voting, bags: Bags, weights: np.ndarray, n_permutations: int) -> Attribution:
    members = [attribute_scores(member, bags, weights, n_permutations) for member in estimator.members_]
    return Attribution(
        scores=estimator.average([member.scores for member in members]),
        baseline=estimator.average([member.baseline for member in members]),
        contributions=estimator.average([member.contributions for member in members]),
        method=" and ".join(sorted({member.method for member in members})),
    )
