"""Explanations: what each instance contributed to the decision on its bag, and how far to trust its weight."""

from bagwise.explain.contract import Explanation
from bagwise.explain.curves import Curve, deletion_and_insertion
from bagwise.explain.explaining import explain
from bagwise.explain.trust import Trust, effective_number, judge_trust

__all__ = [
    "Curve",
    "Explanation",
    "Trust",
    "deletion_and_insertion",
    "effective_number",
    "explain",
    "judge_trust",
]
