"""The ranking of the methods of a comparison by one metric, and one sentence about it.

The best method is compared with every other one on the same folds (corrected resampled t test). The p values are
corrected for the number m of these comparisons by Holm's method: in increasing order,

    p′_k = max(p′_{k−1}, (m − k + 1) · p_k)

If all n differences are equal, the t test is undefined, and p = 2^(1 − n), as in a sign test. A method with p′ ≥ 0.05
is not distinguishable from the best, nor is one without folds that both have completed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bagwise.arguments import choose_by_name
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.intervals import CONFIDENCE_LEVEL, Difference
from bagwise.targets import Metric, Target

MAJORITY = "majority"  # the reference that every method should beat
MAX_NAMED = 3  # indistinguishable methods in the sentence


class RankedMethod(NamedTuple):
    """One method in the ranking.

    Attributes
    ----------
    method : str
        Full name.
    mean : float or None
        Mean of the metric over folds; None if it is undefined.
    is_best : bool
        Whether it is the first of the ranking.
    difference : Difference or None
        The best method minus this one, on the folds that both have completed; None for the best.
    p_value : float or None
        p value of the difference, corrected by Holm's method.
    is_distinguishable : bool
        Whether it differs from the best: p < 0.05.
    beats_majority : bool or None
        Whether its mean is better than that of the majority; None for the majority itself, or without it.
    """

    method: str
    mean: float | None
    is_best: bool
    difference: Difference | None
    p_value: float | None
    is_distinguishable: bool
    beats_majority: bool | None

    @property
    def marks(self) -> str:
        """``*`` for the best, ``~`` if not distinguishable from it, ``!`` if not better than the majority."""
        tied = not (self.is_best or self.is_distinguishable)
        return "*" * self.is_best + "~" * tied + "!" * (self.beats_majority is False)


class Ranking(NamedTuple):
    """The methods of a comparison, best first.

    Attributes
    ----------
    metric : Metric
        The metric by which they are sorted.
    methods : list of RankedMethod
        Methods without a value are the last.
    """

    metric: Metric
    methods: list[RankedMethod]

    @property
    def names(self) -> list[str]:
        """Names of the methods, best first."""
        return [ranked.method for ranked in self.methods]


def choose_metric(target: Target, name: str | None = None) -> Metric:
    """Return a metric of bags by its name in any spelling; None for the first headline metric of the target.

    Parameters
    ----------
    target : Target
        Target of the methods.
    name : str or None, default=None
        Name of a metric.

    Returns
    -------
    Metric
    """
    return choose_by_name(target.headline_metrics[0] if name is None else name, target.metrics, "metric")


def rank_methods(comparison: Comparison, metric: str | None = None) -> Ranking:
    """Sort the methods of a comparison by a metric of bags, and compare each with the best.

    Parameters
    ----------
    comparison : Comparison
        Comparison with at least one completed fit.
    metric : str or None, default=None
        Name of the metric; None for the first headline metric of the target, such as the AUC of classes.

    Returns
    -------
    Ranking
    """
    chosen = choose_metric(comparison.target, metric)
    means = {name: scores[chosen.name].errors.mean for name, scores in comparison.scores.items()}
    order = sorted(means, key=lambda name: _make_sort_key(chosen, name, means[name]))
    best = order[0]
    differences = {name: comparison.compare_pair(best, name, chosen.name) for name in order[1:]}
    corrected = correct_p_values(
        {name: _get_p_value(found) for name, found in differences.items() if found is not None}
    )
    return Ranking(
        chosen,
        [
            RankedMethod(
                method=name,
                mean=means[name],
                is_best=name == best,
                difference=differences.get(name),
                p_value=corrected.get(name),
                is_distinguishable=corrected.get(name, 1.0) < 1 - CONFIDENCE_LEVEL,
                beats_majority=_beats_majority(chosen, name, means),
            )
            for name in order
        ],
    )


def list_worse_than_majority(comparison: Comparison) -> list[str]:
    """List the methods whose probabilities are no better than the class shares, by the metric of that baseline.

    Parameters
    ----------
    comparison : Comparison
        Comparison with at least one completed fit.

    Returns
    -------
    list of str
        Empty if the majority is not compared.
    """
    name = comparison.target.baselines.get(MAJORITY)
    if name is None:
        return []
    metric = comparison.target.metrics[name]
    means = {method: scores[name].errors.mean for method, scores in comparison.scores.items()}
    return [method for method in means if _beats_majority(metric, method, means) is False]


def correct_p_values(p_values: dict[str, float]) -> dict[str, float]:
    """Correct p values for their number by Holm's method.

    Parameters
    ----------
    p_values : dict of str to float
        p value of each comparison.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> correct_p_values({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected: dict[str, float] = {}
    highest = 0.0
    for position, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - position) * p_values[name]))
        corrected[name] = highest
    return corrected


def describe_ranking(ranking: Ranking) -> str:
    """Describe which method is the best, by how much, and how certain that is.

    Parameters
    ----------
    ranking : Ranking
        See ``rank_methods``.

    Returns
    -------
    str
        One sentence, and a second one on the majority where it is needed.
    """
    title = _lower(ranking.metric.title)
    best, others = ranking.methods[0], [ranked for ranked in ranking.methods[1:] if ranked.mean is not None]
    if best.mean is None:
        return f"The {title} is undefined in every fit, so the methods cannot be ranked."
    if best.method == MAJORITY and others:
        return f"No method beats the majority: its {title} is {best.mean:.2f}, that of {_describe_pair(others[0])}."
    extreme = "highest" if ranking.metric.greater_is_better else "lowest"
    sentence = f"{best.method} has the {extreme} {title}, {best.mean:.2f}"
    rivals = [ranked for ranked in others if ranked.method != MAJORITY]
    tied = [ranked for ranked in rivals if not ranked.is_distinguishable]
    if tied:
        sentence += f"; {_join([_describe_pair(ranked) for ranked in tied])} "
        sentence += f"{'is' if len(tied) == 1 else 'are'} not distinguishable from it{_describe_folds(tied)}"
    elif rivals:
        sentence += (
            f", distinguishably better than that of the next, {_describe_pair(rivals[0])}{_describe_folds(rivals)}"
        )
    if any(ranked.method == MAJORITY and not ranked.is_distinguishable for ranked in others):
        return f"{sentence}. No method is distinguishably better than the majority."
    return f"{sentence}."


def _make_sort_key(metric: Metric, name: str, mean: float | None) -> tuple[bool, float, bool]:
    """Sort by the mean; methods without one come last, and the majority before methods that only equal it."""
    value = 0.0 if mean is None else -mean if metric.greater_is_better else mean
    return mean is None, value, name != MAJORITY


def _get_p_value(difference: Difference) -> float:
    """Return the p value of a difference; that of a sign test if all differences are equal, as with perfect AUCs."""
    return 2.0 ** (1 - difference.n_folds) if difference.p_value is None else difference.p_value


def _beats_majority(metric: Metric, name: str, means: dict[str, float | None]) -> bool | None:
    mean, reference = means[name], means.get(MAJORITY)
    if name == MAJORITY or reference is None:
        return None
    if mean is None:
        return False
    return mean > reference if metric.greater_is_better else mean < reference


def _describe_pair(ranked: RankedMethod) -> str:
    """Return the name of a method, its mean, and the difference of the best from it with its interval."""
    found = ranked.difference
    if found is None:
        return f"{ranked.method} ({ranked.mean:.2f})"
    numbers = f"difference {found.mean:.2f}"
    if found.interval is not None:
        numbers += f", 95 % interval {found.interval[0]:.2f} to {found.interval[1]:.2f}"
    return f"{ranked.method} ({ranked.mean:.2f}; {numbers.replace('-', '−')})"


def _describe_folds(ranked: Sequence[RankedMethod]) -> str:
    counts = {one.difference.n_folds for one in ranked if one.difference is not None}
    if len(counts) != 1:
        return ""
    (count,) = counts
    return f" on these {count} folds" if count > 1 else " on this test set"


def _join(parts: Sequence[str]) -> str:
    if len(parts) > MAX_NAMED:
        parts = [*parts[:MAX_NAMED], f"{len(parts) - MAX_NAMED} more"]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _lower(title: str) -> str:
    """Return a title in lower case within a sentence, except for abbreviations such as AUC and F-score."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
