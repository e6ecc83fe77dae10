"""How far the weights of a bag can be trusted to point at its key instances.

    effective number = exp( −Σₖ aₖ log aₖ )        of K instances: 1 if one has all the weight, K if all weigh the same

The effective number is the size of a bag of equal weights that has the same entropy. Warnings are facts about the
weights, in words; that a mean weighs all alike, and a maximum one alone, is how these poolings work and no fault.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import entr

COLLAPSED = 0.99  # the weight of one instance
FLAT = 0.95  # the effective number, as a share of the instances
UNSTEADY = 0.5  # the members' deviations, summed over a bag whose weights sum to one
FEWEST = 5  # instances; in smaller bags a weight on one, or on all, says little


class Trust(NamedTuple):
    """What speaks for or against the weights of each bag."""

    effective_number: np.ndarray  # (n_bags,)
    top_weight: np.ndarray  # (n_bags,), the greatest weight
    warnings: list[list[str]]  # for each bag, plain sentences; none where nothing is wrong


def effective_number(weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The number of instances that count in each bag, (n_bags,), from 1 to K.

    >>> effective_number(np.array([0.5, 0.5, 0.0, 1.0]), np.array([0, 3, 4])).round(12).tolist()
    [2.0, 1.0]
    """
    sizes, starts = np.diff(offsets), offsets[:-1]
    wide = weights.astype(np.float64)
    shares = wide / np.add.reduceat(wide, starts).repeat(sizes)  # float32 weights sum to one only nearly
    return np.exp(np.add.reduceat(entr(shares), starts)).clip(1, sizes)


def judge_trust(weights: np.ndarray, offsets: np.ndarray, spread: np.ndarray | None = None) -> Trust:
    """The effective number, the top weight, and warnings.

    spread : (n_instances,) how far the members of an ensemble differ: ``ensemble.spread(bags).weights``
    """
    sizes, effective = np.diff(offsets), effective_number(weights, offsets)
    top = np.maximum.reduceat(weights, offsets[:-1])
    apart = np.zeros(len(sizes)) if spread is None else np.add.reduceat(spread, offsets[:-1])
    facts = zip(sizes.tolist(), effective.tolist(), top.tolist(), apart.tolist(), strict=True)
    return Trust(effective, top, [_warnings(*each) for each in facts])


def _warnings(size: int, effective: float, top: float, apart: float) -> list[str]:
    found = []
    if size >= FEWEST and top >= COLLAPSED:
        found.append(f"the weights have collapsed on one of {size} instances: the decision rests on it alone")
    if size >= FEWEST and effective >= FLAT * size:
        found.append(
            f"the weights are flat: as many as {effective:.1f} of {size} instances count, so they point at none"
        )
    if apart >= UNSTEADY:
        found.append(
            f"the models disagree about the weights: these deviate by {apart:.0%} on average, "
            "so another model may point at other instances"
        )
    return found
