"""Two claims of the text as numbers: the size of L matters little, and attention does not learn the mean operator.

AUC and evenness of the weights (entropy / log K; the mean operator has 1) by the number of hidden units of the
attention. The third claim, that Instance+max finds few of the key instances, is in the tables of colon cancer.
"""

from collections.abc import Sequence
from typing import Any

from bagwise.comparing.plan import Plan, make_plan
from bagwise.paper.recipes.classical import network as classical_network
from bagwise.paper.recipes.contract import Setting
from bagwise.paper.recipes.digits import network as digits_network

WIDTHS = (64, 128, 256)
METHODS = ("attention", "gated attention", "embedding+mean")


def claims(repeats: int, quick: bool) -> list[Setting]:
    """Each width on 200 bags of digits, drawn anew for each repeat, and on Musk1 over ten folds; quick: one width."""
    widths = WIDTHS[:1] if quick else WIDTHS
    return [
        *_by_width("MNIST-bags", widths, lambda width: [_digits(width, draw, quick) for draw in range(repeats)]),
        *_by_width("Musk1", widths, lambda width: [_musk1(width, repeats, quick)]),
    ]


def _by_width(name: str, widths: Sequence[int], plans: Any) -> list[Setting]:
    table = f"attention of L hidden units, {name}"
    return [
        Setting(f"{name.lower()}-width-{width}", table, str(width), plans(width), comparable=False) for width in widths
    ]


def _digits(width: int, draw: int, quick: bool) -> Plan:
    methods = {method: {**digits_network(quick), "attention_width": width} for method in METHODS}
    options = {"mean_size": 10, "n_bags": 20 if quick else 200, "n_test_bags": 100 if quick else 1000, "seed": draw}
    return make_plan("mnist-bags", methods, options=options, seed=draw)


def _musk1(width: int, repeats: int, quick: bool) -> Plan:
    methods = {method: {**classical_network("musk1", quick), "attention_width": width} for method in METHODS}
    return make_plan("musk1", methods, folds=3 if quick else 10, repeats=repeats, seed=1)
