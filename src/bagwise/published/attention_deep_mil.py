"""AttentionDeepMIL, the code that the paper's authors published: LeNet-5, (gated) attention, one output.

Its digits are scaled to 0 … 1 and then standardised by MNIST's mean and deviation; here they are bytes, 0 … 255, and
the same scaling is inside the model.
"""

import torch

from bagwise.errors import InputError
from bagwise.published.parts import Layer, Parts
from bagwise.published.state import State

MEAN, DEVIATION = 0.1307, 0.3081  # of the pixels of MNIST, as the code has them
FEATURES = r"feature_extractor_part1"
GATED = {"V": r"attention_V\.\d+", "U": r"attention_U\.\d+"}
LAST = r"attention_(w|weights)"


def is_attention_deep_mil(state: State) -> bool:
    return state.has(rf"{FEATURES}\.\d+\.weight")


def read_attention_deep_mil(state: State) -> Parts:
    """The parts of a model, and how to build it."""
    first, second = _two(state, FEATURES)
    gated = state.has(rf"{LAST}\.weight")
    pooling = _gated(state) if gated else _plain(state)
    scaling = {"center": torch.full((1, 1, 1), 255 * MEAN), "scale": torch.full((1, 1, 1), 255 * DEVIATION)}
    return Parts(
        parameters={
            "encoder": "lenet",
            "pooling": "biased gated attention" if gated else "biased attention",
            "attention_width": pooling["V"]["weight"].shape[0],
            "heads": pooling["w"]["weight"].shape[0],
        },
        instance_shape=(28, 28),
        n_classes=2,
        layers={
            "encoder.0": scaling,
            "encoder.1.0": state.layer(rf"{FEATURES}\.{first}"),
            "encoder.1.3": state.layer(rf"{FEATURES}\.{second}"),
            "encoder.1.7": state.layer(r"feature_extractor_part2\.\d+"),
            **{f"pooling.{name}": layer for name, layer in pooling.items()},
            "head": state.layer(r"classifier\.\d+"),
        },
    )


def _two(state: State, name: str) -> list[int]:
    """The places of the two layers of a sequence."""
    places = state.places(name)
    if len(places) != 2:
        raise InputError(f"{state.path}: {name} has {len(places)} layers with weights, and two were expected")
    return places


def _gated(state: State) -> dict[str, Layer]:
    state.leave(rf"{LAST}\.bias")  # the same for all instances: the softmax does not see it
    return {**{name: state.layer(pattern) for name, pattern in GATED.items()}, "w": state.layer(LAST, bias=False)}


def _plain(state: State) -> dict[str, Layer]:
    hidden, last = _two(state, "attention")
    state.leave(rf"attention\.{last}\.bias")
    return {"V": state.layer(rf"attention\.{hidden}"), "w": state.layer(rf"attention\.{last}", bias=False)}
