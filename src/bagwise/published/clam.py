"""CLAM with a single branch (Lu et al. 2021), as its code saves it.

    h = ReLU(W x + b)        a = softmax(wᵀ (tanh(V hᵀ + v) ⊙ sigm(U hᵀ + u)))        s = C Σₖ aₖ hₖ + c

The place of the attention within ``attention_net`` depends on whether the model had dropout (3 or 2). The classifiers
of instances served its training and have no part in a prediction.
"""

import torch

from bagwise.errors import InputError
from bagwise.published.parts import Layer, Parts, two_class_head
from bagwise.published.state import State

ATTENTION = r"attention_net\.\d+"


def is_clam(state: State) -> bool:
    return state.has(r"attention_net\.\d+\.(attention_c|module\.\d+)\.weight")


def read_clam(state: State) -> Parts:
    """The parts of a model, and how to build it."""
    gated = state.has(rf"{ATTENTION}\.attention_c\.weight")
    encoder = state.layer(ATTENTION)
    layers = _gated(state) if gated else _plain(state)
    if not state.has(r"classifiers\.weight"):
        raise InputError(f"{state.path} is a CLAM of several branches, one a class; one of a single branch can be read")
    head = state.layer(r"classifiers")
    state.leave(r"instance_classifiers\..*")
    width, n_features = encoder["weight"].shape
    if width != 512:
        raise InputError(f"{state.path} has embeddings of {width} numbers, and CLAM's have 512")
    return Parts(
        parameters={
            "encoder": "projection",
            "pooling": "biased gated attention" if gated else "biased attention",
            "attention_width": layers["V"]["weight"].shape[0],
        },
        instance_shape=(n_features,),
        n_classes=head["weight"].shape[0],
        layers={
            "encoder.0": {"center": torch.zeros(n_features), "scale": torch.ones(n_features)},  # features as they are
            "encoder.1.1": encoder,
            **{f"pooling.{name}": layer for name, layer in layers.items()},
            "head": two_class_head(head),
        },
    )


def _gated(state: State) -> dict[str, Layer]:
    found = {
        "V": state.layer(rf"{ATTENTION}\.attention_a\.0"),
        "U": state.layer(rf"{ATTENTION}\.attention_b\.0"),
        "w": state.layer(rf"{ATTENTION}\.attention_c", bias=False),
    }
    state.leave(rf"{ATTENTION}\.attention_c\.bias")  # the same for all instances: the softmax does not see it
    return found


def _plain(state: State) -> dict[str, Layer]:
    found = {
        "V": state.layer(rf"{ATTENTION}\.module\.0"),
        "w": state.layer(rf"{ATTENTION}\.module\.[1-9]", bias=False),
    }
    state.leave(rf"{ATTENTION}\.module\.[1-9]\.bias")
    return found
