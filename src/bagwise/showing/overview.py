"""All test bags of a run at a glance: what was decided, and how far the weights of each can be trusted."""

from bagwise.explain import judge_trust
from bagwise.runs import Run
from bagwise.summary import Plain


def overview_rows(run: Run) -> list[Plain]:
    """A line a test bag, from the run's own files: nothing is predicted again."""
    trust = judge_trust(run.weights, run.offsets)
    return [
        {
            **row,
            "effective_number": repr(float(trust.effective_number[number])),
            "top_weight": repr(float(trust.top_weight[number])),
            "warnings": "; ".join(trust.warnings[number]),
        }
        for number, row in enumerate(run.predictions)
    ]
