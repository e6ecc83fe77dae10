"""A file of published weights → a fitted BagClassifier, which predicts, weighs, explains and saves like any other."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, saving
from bagwise.estimators.adjustment import Adjustment
from bagwise.published.attention_deep_mil import is_attention_deep_mil, read_attention_deep_mil
from bagwise.published.clam import is_clam, read_clam
from bagwise.published.parts import Parts
from bagwise.published.state import State

READERS = ((is_clam, read_clam), (is_attention_deep_mil, read_attention_deep_mil))


def adopt(path: str | Path, classes: Sequence[Any] | None = None) -> BagClassifier:
    """The model of a state dictionary of CLAM (single branch) or AttentionDeepMIL; nothing in the file is executed.

    classes : the labels, in the order of the model's outputs; 0, 1, … if not given

    >>> adopt("s_0_checkpoint.pt", classes=["normal", "tumour"])  # doctest: +SKIP
    """
    state = State(path)
    read = next((reader for knows, reader in READERS if knows(state)), None)
    if read is None:
        raise InputError(f"{path} holds the weights of neither CLAM (single branch) nor AttentionDeepMIL")
    parts = read(state)
    state.check_taken()
    labels = np.arange(parts.n_classes) if classes is None else np.array(classes)
    if len(np.unique(labels)) != parts.n_classes or len(labels) != parts.n_classes:
        raise InputError(f"{path} has {parts.n_classes} classes; give as many different labels")
    return _assembled(parts, labels)


def _assembled(parts: Parts, labels: np.ndarray) -> BagClassifier:
    model = BagClassifier(**parts.parameters, standardize=False, random_state=0)
    saving.place(model, labels, parts.instance_shape, seed=0)
    numbers = {f"{layer}.{name}": value for layer, tensors in parts.layers.items() for name, value in tensors.items()}
    model._restore({"history": [], "adjustment": asdict(Adjustment()), "engine": "torch"}, numbers)
    return model
