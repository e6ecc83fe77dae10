"""The numbers of a bag's instances as lines of a csv, to the last digit."""

from bagwise.bags import Bags
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import ShownRun
from bagwise.summary import Plain

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def instance_rows(shown: ShownRun, layers: Layers, bag: int) -> list[Plain]:
    """A line an instance: where it lies, its weight, its contribution to each class, its probabilities alone."""
    one, name = shown.bag(bag), shown.run.predictions[bag]["bag"]
    columns = {"weight": layers.weights(bag)}
    for title, layer in (("contribution", "contribution"), ("probability alone", "probability")):
        for number, label in enumerate(shown.run.classes):
            columns[f"{title} {label}"] = layers.values(layer, bag, number)
    texts = {title: [repr(value) for value in values.astype(float).tolist()] for title, values in columns.items()}
    return [
        {"bag": as_text(name), "instance": instance, **_place(one, instance)}
        | {title: values[instance] for title, values in texts.items()}
        | _truth(one, instance)
        for instance in range(one.n_instances)
    ]


def as_text(name: str) -> str:
    """A name that no spreadsheet takes for a formula: one that begins like one gets an apostrophe before it.

    >>> as_text("=cmd|calc"), as_text("slide-1")
    ("'=cmd|calc", 'slide-1')
    """
    return f"'{name}" if name.startswith(FORMULAS) else name


def _place(one: Bags, instance: int) -> Plain:
    return {} if one.positions is None else dict(zip("xy", one.positions[instance].tolist(), strict=True))


def _truth(one: Bags, instance: int) -> Plain:
    return {} if one.instance_labels is None else {"key": int(one.instance_labels[instance] > 0)}
