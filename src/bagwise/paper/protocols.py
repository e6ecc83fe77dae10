"""Protocols for choosing the epoch of a network.

last epoch    the default: the last of a number of epochs that was fixed beforehand
validation    the epoch with the lowest error + loss on a fifth of the training bags, which are held out; the paper uses
              validation bags but does not describe them
test fold     the epoch with the lowest error + loss on the test bags; the results are biased, and only show how
              misleading this protocol is
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bagwise.arguments import canonicalize_name, choose_by_name
from bagwise.estimators import METHODS, BagClassifier
from bagwise.evaluation.comparison import ComparisonPlan
from bagwise.paper.experiments import Setting

DEFAULT_PROTOCOL = "last epoch"


class Protocol(NamedTuple):
    """The changes that a protocol makes to a plan."""

    title: str
    parameters: dict[str, Any]  # parameters of the networks
    peeking: bool = False  # whether test bags influence the choice of the epoch


PROTOCOLS = {
    "validation": Protocol(
        title="epoch chosen on a fifth of the training bags", parameters={"validation": 0.2, "averaging": 0.0}
    ),
    "test fold": Protocol(title="WARNING, epoch chosen on the test bags", parameters={"averaging": 0.0}, peeking=True),
}


def apply_protocol(name: str, settings: Sequence[Setting]) -> list[Setting]:
    """Return settings under a protocol; except with the default, those whose networks it can change."""
    if name == DEFAULT_PROTOCOL:
        return list(settings)
    protocol = choose_by_name(name, PROTOCOLS, f"protocol (other than '{DEFAULT_PROTOCOL}')")
    return [
        setting._replace(
            name=f"{setting.name}-{canonicalize_name(name).replace(' ', '-')}",
            title=", ".join(filter(None, [setting.title, protocol.title])),
            plans=plans,
        )
        for setting in settings
        if not setting.rows
        and (plans := [changed for plan in setting.plans if (changed := _change_plan(plan, protocol)).methods])
    ]


def apply_all_protocols(settings: Sequence[Setting]) -> list[Setting]:
    """Return settings under the default and under every other protocol.

    Parameters
    ----------
    settings : sequence of Setting
        Settings under the default protocol.

    Returns
    -------
    list of Setting
        The given settings, followed by their variants under the other protocols.
    """
    return [changed for name in (DEFAULT_PROTOCOL, *PROTOCOLS) for changed in apply_protocol(name, settings)]


def _change_plan(plan: ComparisonPlan, protocol: Protocol) -> ComparisonPlan:
    """Return a plan with only its networks, under a protocol; other methods have no epochs."""
    methods = {
        name: {**parameters, **protocol.parameters}
        for name, parameters in plan.methods.items()
        if METHODS[name].kind is BagClassifier and not METHODS[name].parameters.get("averaging")
    }
    return plan._replace(methods=methods, selection={}, peeking=protocol.peeking)
