"""A super learner (van der Laan, Polley & Hubbard 2007): methods weighted by how well they predict held-out bags."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor

from bagwise.arguments import check_duration, check_real_number
from bagwise.bags import Bags, Folds, make_inner_folds
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.base import BagEstimator, RandomState
from bagwise.estimators.calibration import (
    MajorityWarning,
    compute_class_shares,
    compute_held_out_loss,
    warn_if_majority_wins,
)
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.naive import NaiveClassifier
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.base import (
    can_learn,
    check_estimators,
    get_named_estimators,
    learn_common_target,
    set_positive,
)
from bagwise.estimators.meta.committee import NETWORK, SCALINGS, make_default_members
from bagwise.estimators.meta.screening import (
    ScreenedMethod,
    build_screened_methods,
    estimate_seconds,
    is_feasible,
    restore_screening,
    select_within_budget,
)
from bagwise.estimators.meta.selected import Selected
from bagwise.estimators.meta.voting import Voting
from bagwise.estimators.training_tasks import LabelledBags
from bagwise.estimators.validation import BagsLike, ValidationBags
from bagwise.nn import Purpose, random_integer
from bagwise.targets import DEFAULT_THRESHOLD, Target
from bagwise.training import use_one_thread

MIN_WEIGHT = 0.01  # candidates with a smaller weight are dropped
MIN_PROBABILITY = 1e-12  # so that a single wrong prediction of probability 0 does not exclude a candidate
DEFAULT_FOLDS = 5  # for candidates without folds of their own
MAX_STEPS, TOLERANCE = 10_000, 1e-9  # of expectation maximisation
SUM_TOLERANCE = 1e-6  # rounding error allowed in the sum of the saved weights


class Plan(NamedTuple):
    """The bags of a fit, their targets, the candidates by name, and the estimated duration of each."""

    bags: Bags
    targets: np.ndarray
    library: dict[str, BagEstimator]
    seconds: dict[str, float | None]


class SuperLearner(Voting):
    """Several bag estimators whose outputs and instance weights are averaged with learned ensemble weights.

        p = Σₘ vₘ pₘ        v = argmax Σᵢ log Σₘ vₘ pₘ(yᵢ | Xᵢ) + α Σₘ log vₘ        vₘ ≥ 0, Σ v = 1

    Each pₘ(yᵢ | Xᵢ) is predicted by a copy that was fitted without bag i, by cross-validation within the training bags
    (van der Laan, Polley & Hubbard, *Super learner*, Statistical Applications in Genetics and Molecular Biology 6,
    2007). The second term is a prior towards equal weights: few bags do not tell which candidate is the best.
    Candidates with a weight below 0.01 are dropped, and every member is fitted to all bags.

    Parameters
    ----------
    estimators : dict of BagEstimator or None, default=None
        The candidates by name; None takes the methods of ``screen``.
    screen : sequence of str or None, default=None
        Names of the methods to try, as in ``build_method``, without combinations of methods. None means the default
        list, without those that cannot predict the target or are not made for so many instances.
    budget : str, float or None, default=None
        Duration such as "10m", or a number of seconds. The methods with the highest estimated durations are removed
        from the list until the estimate fits. The estimate depends on the sizes of the data alone, and is no limit.
    folds : int or None, default=None
        Number of cross-validation folds, the same for all candidates. None uses the folds that a candidate holds out
        itself, for its calibration or to average networks, and five folds for the others. It needs fewer fits. Bags of
        a group stay together.
    prior : float, default=2.0
        α, in bags per candidate: the more, the closer the weights are to equal ones.
    positive : object, default=None
        The positive one of two classes, for all members; None leaves the choice to the members.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results. The seed of each member is derived from it.

    Attributes
    ----------
    screen_ : list of str
        The names of the candidates that were tried. If they are methods, ``screen=model.screen_`` repeats the fit.
    screening_ : list of ScreenedMethod
        Name, ensemble weight, and metrics of the held-out bags of each candidate.
    weight_by_name_ : dict of str to float
        The ensemble weight of each candidate; 0 if it was dropped.
    members_ : list of BagEstimator
        The candidates with a positive weight, fitted to all bags.
    member_weights_ : ndarray of shape (n_members,)
        The ensemble weights of the members, which sum to one.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = SuperLearner(screen=["extra trees", "MI-Kernel"], random_state=0).fit(bags, bags.labels)
    >>> model.screen_, round(sum(model.weight_by_name_.values()), 6)
    (['extra trees', 'MI-Kernel'], 1.0)
    """

    screening_: list[ScreenedMethod]

    def __init__(
        self,
        estimators: dict[str, BagEstimator] | None = None,
        screen: Sequence[str] | None = None,
        budget: str | float | None = None,
        folds: int | None = None,
        prior: float = 2.0,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimators = estimators
        self.screen = screen
        self.budget = budget
        self.folds = folds
        self.prior = prior
        self.positive = positive
        self.random_state = random_state

    def fit(self, X: BagsLike, y: npt.ArrayLike | None = None) -> "SuperLearner":
        """Learn the ensemble weights by cross-validation, and fit the members to all bags.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.

        Returns
        -------
        SuperLearner
            The estimator itself.
        """
        bags, targets, library, seconds = self._plan(X, y)
        candidates, labels = self._copy_with_seeds(library.values()), self.target_.decode(targets)
        folds = make_inner_folds(
            self.target_.make_strata(targets),
            bags.groups,
            DEFAULT_FOLDS if self.folds is None else self.folds,
            random_integer(self.seed_, Purpose.SPLIT, 7),
        )
        rows = np.concatenate([held_out for _, held_out in folds])
        with use_one_thread(), warnings.catch_warnings():  # the last bits of a sum depend on the number of threads
            warnings.simplefilter("ignore", MajorityWarning)  # the table of the screening shows it
            outputs = [self._predict_held_out(candidate, bags, labels, folds, rows) for candidate in candidates]
            densities = [self.target_.likelihood.densities(each, targets[rows]) for each in outputs]
            weights = learn_member_weights(np.array(densities), self.prior)
            self.members_ = [
                candidate if hasattr(candidate, "target_") else candidate.fit(bags, labels)
                for candidate, weight in zip(candidates, weights, strict=True)
                if weight > 0
            ]
        self.member_weights_ = weights[weights > 0]
        self.screening_ = [
            ScreenedMethod(
                name=name,
                weight=weight,
                seconds=seconds[name],
                metrics=self.target_.compute_metrics(targets[rows], predicted, DEFAULT_THRESHOLD),
            )
            for name, weight, predicted in zip(library, weights.tolist(), outputs, strict=True)
        ]
        self._warn_of_majority(self.target_.average_outputs(np.array(outputs), weights), targets, rows)
        return self

    def check(self, X: BagsLike, y: npt.ArrayLike | None, validation: ValidationBags | None = None) -> None:
        """Raise ``InputError`` if ``fit`` would reject the parameters or the input; nothing is fitted or changed."""
        clone(self)._plan(X, y)

    def learn_target(self, y: npt.ArrayLike, n_bags: int) -> Target:
        return learn_common_target(list(self._list_candidates(y, n_bags).values()), y, n_bags)

    @property
    def screen_(self) -> list[str]:
        """The names of the candidates that were tried."""
        return list(self.weight_by_name_)

    @property
    def weight_by_name_(self) -> dict[str, float]:
        """The ensemble weight of each candidate; 0 if it was dropped."""
        return {screened.name: screened.weight for screened in self.screening_}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is_default():  # the others are left out
            tags.classifier_tags.multi_class = True
        return tags

    def _is_default(self) -> bool:
        return self.estimators is None and self.screen is None

    def _plan(self, X: BagsLike, y: npt.ArrayLike | None) -> Plan:
        """Check the parameters and the input, and choose the candidates that are tried."""
        bags, targets = self._check_training_input(X, y)
        check_real_number("prior", self.prior, minimum=0)
        library = self._list_candidates(self.target_.decode(targets), len(bags))
        if self._is_default():
            library = {name: each for name, each in library.items() if is_feasible(each, bags)} or library
        known = LabelledBags(bags, targets)
        seconds = {name: estimate_seconds(each, known, self.target_, self.folds) for name, each in library.items()}
        if self.budget is not None:
            budget = check_duration("budget", self.budget)
            names = select_within_budget({name: each or 0.0 for name, each in seconds.items()}, budget)
            library = {name: library[name] for name in names}
        return Plan(bags, targets, library, seconds)

    def _warn_of_majority(self, outputs: np.ndarray, targets: np.ndarray, rows: np.ndarray) -> None:
        """Warn if the class shares are better than the vote of the copies that were fitted without the bags."""
        if self.target_.has_calibration:
            likelihood, equal = self.target_.likelihood, np.ones(len(targets))
            known = targets[rows], compute_class_shares(targets, equal), equal[rows]
            loss = compute_held_out_loss(likelihood, likelihood.link(outputs), *known)
            warn_if_majority_wins(type(self).__name__, loss, stacklevel=3)

    def _list_candidates(self, y: npt.ArrayLike, n_bags: int) -> dict[str, BagEstimator]:
        """Return copies of the candidates by name; without those of the default list that cannot predict the target."""
        library = self._get_library()
        copies = [set_positive(clone(each), self.positive) for each in check_estimators(self._get_estimators())]
        named = dict(zip(library, copies, strict=True))
        if not self._is_default():
            return named
        return {name: each for name, each in named.items() if can_learn(each, y, n_bags)} or named

    def _predict_held_out(
        self, candidate: BagEstimator, bags: Bags, labels: np.ndarray, folds: Folds, rows: np.ndarray
    ) -> np.ndarray:
        """Predict the outputs of held-out bags, of shape (n_held_out, n_outputs), in the order of ``rows``."""
        if self.folds is None:
            own = getattr(candidate.fit(bags, labels), "held_out_outputs_", None)
            if own is not None and np.isin(rows, own.rows).all():
                position = np.empty(len(bags), dtype=int)
                position[own.rows] = np.arange(len(own.rows))
                return own.outputs[position[rows]]
        copies = (clone(candidate).fit(bags[training], labels[training]) for training, _ in folds)
        return np.concatenate(
            [copy.predict_outputs(bags[held_out]) for copy, (_, held_out) in zip(copies, folds, strict=True)]
        )

    def _get_library(self) -> Any:
        if self.estimators is None:
            return build_screened_methods(self.screen)
        if self.screen is not None or self.budget is not None:
            raise InputError(
                "estimators cannot be combined with screen and budget, which are for registered methods; leave out "
                "estimators, or leave out the others"
            )
        return self.estimators

    def _get_estimators(self) -> dict[str, Any]:
        return get_named_estimators(self._get_library())

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata, tensors = super()._content()
        return (
            {**metadata, "screening": [screened._asdict() for screened in self.screening_]},
            {**tensors, "member_weights": torch.tensor(self.member_weights_)},
        )

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        super()._restore(metadata, tensors)
        self.screening_ = restore_screening(metadata["screening"])
        weights = tensors["member_weights"].numpy()
        is_valid = weights.shape == (len(self.members_),) and (weights > 0).all()
        if not is_valid or abs(weights.sum() - 1) > SUM_TOLERANCE:
            raise InputError(
                f"the saved ensemble weights must be one positive number for each of the {len(self.members_)} members "
                "and sum to one; save the model again"
            )
        self.member_weights_ = weights


def make_default_library() -> dict[str, BagEstimator]:
    """Return the nine candidates from which the committee was chosen (experiments/committee/choose.py)."""
    return {
        **make_default_members(),
        "MI-Kernel": Selected(MIKernel(), SCALINGS),
        "miVLAD": MiVLAD(scaling="standard"),
        "attention": BagClassifier(pooling="attention", **NETWORK),
        "extra trees": PooledClassifier(scaling="standard"),
        "naive": NaiveClassifier(scaling="standard"),
    }


def learn_member_weights(probabilities: np.ndarray, prior: float = 0.0) -> np.ndarray:
    """Learn the ensemble weights that are most likely; weights below ``MIN_WEIGHT`` are set to zero.

    The problem is convex. It is solved by expectation maximisation, which never decreases the objective:

        vₘ ← (1 − s) · 1/n Σᵢ vₘ pₘᵢ / Σₗ vₗ pₗᵢ + s / M        s = α M / (n + α M)

    with n bags and M candidates.

    Parameters
    ----------
    probabilities : ndarray of shape (n_candidates, n_bags)
        The probability that each candidate predicted for the true class of each bag.
    prior : float, default=0.0
        α: the number of bags per candidate that count as predicted by this candidate.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Weights that sum to one.

    Examples
    --------
    >>> learn_member_weights(np.array([[0.9, 0.8, 0.9], [0.2, 0.3, 0.1]]))
    array([1., 0.])
    """
    clipped = probabilities.clip(min=MIN_PROBABILITY)
    n_candidates, n_bags = clipped.shape
    shrinkage = prior * n_candidates / (n_bags + prior * n_candidates)
    weights = np.full(n_candidates, 1 / n_candidates)
    for _ in range(MAX_STEPS):
        shares = weights * (clipped / (weights @ clipped)).mean(axis=1)
        previous, weights = weights, (1 - shrinkage) * shares + shrinkage / n_candidates
        if np.abs(weights - previous).max() < TOLERANCE:
            break
    weights[weights < min(MIN_WEIGHT, weights.max())] = 0
    return weights / weights.sum()
