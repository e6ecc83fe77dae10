"""The base of estimators that train several others on the same bags and average what they say.

p = Σₘ vₘ pₘ        a = Σₘ vₘ aₘ        spread = the standard deviation over the members

The voices v of the members sum to one; where none were learned all are alike.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from torch import Tensor, nn

from bagwise import randomness
from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.estimators.contract import BagEstimator, Judged
from bagwise.estimators.holding.contract import HoldingEstimator, scores_instances
from bagwise.estimators.holding.delegating import restore_held
from bagwise.estimators.saving import plain, unplain
from bagwise.estimators.wrapped.wrapping import scores_of
from bagwise.randomness import Purpose


class Spread(NamedTuple):
    """How far members differ: standard deviations over them, zero where all agree."""

    probabilities: np.ndarray  # (n_bags, n_classes)
    weights: np.ndarray  # (n_instances,)


class Voting(HoldingEstimator):
    """Base of the estimators whose ``members_`` vote, each with one voice unless ``voices_`` were learned."""

    members_: list[BagEstimator]
    voices_: np.ndarray | None = None  # (n_members,)

    def heard(self, values: Any) -> Any:
        """The mean of what the members say, along the first axis, by their voices."""
        return np.average(values, axis=0, weights=self.voices_)

    @property
    def decision_threshold(self) -> float:
        """The mean of the members' thresholds, as their probabilities are averaged."""
        return float(self.heard([member.decision_threshold for member in self.members_]))

    def predict_proba(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return self.heard([member.predict_proba(bags) for member in self.members_])

    def weigh(self, X: Any) -> np.ndarray:
        bags = self._known_bags(X)
        return self.heard([member.weigh(bags) for member in self.members_])

    def judge(self, X: Any) -> Judged:
        judged = self._judged(X)
        return Judged(self.heard(judged.probabilities), self.heard(judged.weights))

    def spread(self, X: Any) -> Spread:
        """How far the members differ in probabilities and weights."""
        judged = self._judged(X)
        return Spread(self._deviation(judged.probabilities), self._deviation(judged.weights))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the mean probabilities: (n_bags,) for two classes, else (n_bags, n_classes)."""
        scores = scores_of(self.predict_proba(X), self.likelihood_)
        return self.likelihood_.decisions(scores)

    @available_if(scores_instances)
    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score: what a bag of that instance alone would get."""
        bags = self._known_bags(X)
        alone = Bags.trusted(instances=bags.instances, offsets=np.arange(bags.n_instances + 1))
        return self.decision_function(alone)

    def _deviation(self, values: np.ndarray) -> np.ndarray:
        return np.sqrt(self.heard((values - self.heard(values)) ** 2))

    def _seated(self, estimators: Iterable[BagEstimator]) -> list[BagEstimator]:
        """Copies of estimators, each with a seed drawn for its place."""
        return [
            clone(each).set_params(random_state=randomness.integer(self.seed_, Purpose.INITIALIZATION, place))
            for place, each in enumerate(estimators)
        ]

    def _judged(self, X: Any) -> Judged:
        """Of each member, along a first axis."""
        bags = self._known_bags(X)
        judged = [member.judge(bags) for member in self.members_]
        return Judged(np.array([each.probabilities for each in judged]), np.array([each.weights for each in judged]))

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        members: list[dict[str, Any]] = []
        numbers: dict[str, Tensor] = {}
        for place, member in enumerate(self.members_):
            _check_modules(member)
            facts, its_numbers = member._content()
            members.append({"member": plain(member), "learned": facts})
            numbers |= {f"{_prefix(place)}{name}": value for name, value in its_numbers.items()}
        return {"members": members}, numbers

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.members_ = [unplain(each["member"], self.kinds) for each in facts["members"]]
        for place, member in enumerate(self.members_):
            prefix = _prefix(place)
            own = {name.removeprefix(prefix): value for name, value in numbers.items() if name.startswith(prefix)}
            restore_held(self, member, member.random_state, facts["members"][place]["learned"], own)


def _prefix(place: int) -> str:
    return f"member.{place}."


def _check_modules(member: BagEstimator) -> None:
    """Refuse modules of the user's own, which ``load`` could not put back into the members."""
    for name, value in member.get_params().items():
        if isinstance(value, nn.Module):
            raise InputError(
                f"a {type(member).__name__} among the members has a module of your own for {name}, so they cannot be "
                "saved as one; save each of members_"
            )
