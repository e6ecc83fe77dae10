"""By which bags the epoch of a network is chosen: the honest default, and what others do, under their names.

last epoch    the default: as many epochs as were fixed beforehand
validation    the epoch of least error + loss on a fifth of the training bags, which the paper says without saying which
test fold     the same on the test bags: never a result, a warning of what such numbers promise
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bagwise.comparing.plan import Plan
from bagwise.estimators import BagClassifier
from bagwise.estimators.methods import METHODS
from bagwise.names import canonical, choose
from bagwise.paper.recipes.contract import Setting

DEFAULT = "last epoch"


class Protocol(NamedTuple):
    """What changes in a plan."""

    title: str
    parameters: dict[str, Any]  # of its networks
    peeking: bool = False


PROTOCOLS = {
    "validation": Protocol("epoch chosen on a fifth of the training bags", {"validation": 0.2, "averaging": 0.0}),
    "test fold": Protocol("WARNING, epoch chosen on the test bags", {"averaging": 0.0}, peeking=True),
}


def under(name: str, settings: Sequence[Setting]) -> list[Setting]:
    """The settings under a protocol; those without a network have none but the default, and are left out."""
    if name == DEFAULT:
        return list(settings)
    protocol = choose(name, PROTOCOLS, f"protocol (other than '{DEFAULT}')")
    return [
        setting._replace(
            name=f"{setting.name}-{canonical(name).replace(' ', '-')}",
            title=", ".join(filter(None, [setting.title, protocol.title])),
            plans=plans,
        )
        for setting in settings
        if (plans := [changed for plan in setting.plans if (changed := _changed(plan, protocol)).methods])
    ]


def under_all(settings: Sequence[Setting]) -> list[Setting]:
    """The settings under the default and under every other protocol."""
    return [each for name in (DEFAULT, *PROTOCOLS) for each in under(name, settings)]


def _changed(plan: Plan, protocol: Protocol) -> Plan:
    """The networks of a plan under a protocol; other methods have no epochs."""
    methods = {
        name: {**parameters, **protocol.parameters}
        for name, parameters in plan.methods.items()
        if METHODS[name].kind is BagClassifier and not METHODS[name].parameters.get("averaging")
    }
    return plan._replace(methods=methods, selection={}, peeking=protocol.peeking)
