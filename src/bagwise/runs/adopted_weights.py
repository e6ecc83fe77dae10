"""Published weights converted to a fitted ``BagClassifier``.

Two formats of state dictionaries are supported.

AttentionDeepMIL, the code published by the paper's authors: LeNet-5, (gated) attention, one output. It scales digits to
0 … 1 and then standardises them by the mean and standard deviation of MNIST. Here digits are bytes, 0 … 255, and the
same scaling is part of the model.

CLAM with a single branch (Lu et al. 2021), as its code saves it:

    h = ReLU(W x + b)        a = softmax(wᵀ (tanh(V hᵀ + v) ⊙ sigm(U hᵀ + u)))        s = C Σₖ aₖ hₖ + c

The index of the attention within ``attention_net`` is 3 if the model has dropout, else 2. The instance classifiers are
used in training only, not in predictions.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bagwise.data.formats import read_tensors
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier, make_identity, restore_attributes
from bagwise.targets import DEFAULT_THRESHOLD, ClassTarget

Layer = dict[str, Tensor]

WRAPPER_PREFIXES = re.compile(r"^((module|model|net|_orig_mod)\.)+")

MNIST_MEAN, MNIST_DEVIATION = 0.1307, 0.3081  # of the pixels, as in the published code
DEEP_MIL_FEATURES = r"feature_extractor_part1"
DEEP_MIL_GATES = {"V": r"attention_V\.\d+", "U": r"attention_U\.\d+"}
DEEP_MIL_LAST = r"attention_(w|weights)"

CLAM_ATTENTION = r"attention_net\.\d+"
CLAM_WIDTH = 512


def adopt_weights(path: str | Path, classes: Sequence[int | float | str] | None = None) -> BagClassifier:
    """Read a state dictionary of CLAM (single branch) or AttentionDeepMIL; nothing in the file is executed.

    Parameters
    ----------
    path : str or Path
        A file written by ``torch.save``.
    classes : sequence of int, float or str, or None, default=None
        Class labels in the order of the model's outputs; None means 0, 1, ….

    Returns
    -------
    BagClassifier
        The fitted model.

    Raises
    ------
    InputError
        If the file is not from such a model, or if ``classes`` has the wrong number of labels.

    Examples
    --------
    >>> adopt_weights("s_0_checkpoint.pt", classes=["normal", "tumour"])  # doctest: +SKIP
    """
    state = StateDict(path)
    read = next((reader for recognises, reader in READERS if recognises(state)), None)
    if read is None:
        raise InputError(
            f"{path} has the weights of neither CLAM (single branch) nor AttentionDeepMIL; pass a checkpoint "
            "of one of them"
        )
    parts = read(state)
    state.check_all_used()
    labels = np.arange(parts.n_classes) if classes is None else np.array(classes)
    if len(np.unique(labels)) != parts.n_classes or len(labels) != parts.n_classes:
        raise InputError(
            f"{path} has {parts.n_classes} classes; give {parts.n_classes} different labels with --classes, got "
            f"{', '.join(map(str, labels))}"
        )
    return _build_classifier(parts, labels)


def _build_classifier(parts: "PublishedParts", labels: np.ndarray) -> BagClassifier:
    model = BagClassifier(**parts.parameters, scaling="none", random_state=0)
    target = ClassTarget(labels)
    restore_attributes(model, target, parts.instance_shape, seed=0)
    layers = {**parts.layers, "head": _orient_head(parts.layers["head"], target)}
    arrays = {f"{layer}.{name}": value for layer, tensors in layers.items() for name, value in tensors.items()}
    calibration = make_identity(target.likelihood.n_scores).to_json()
    learned = {"calibration": calibration, "held_out_loss": None, "threshold": DEFAULT_THRESHOLD}
    model._restore({**learned, "history": [], "engine": "torch", "networks": 1}, arrays)
    return model


def _orient_head(head: Layer, target: ClassTarget) -> Layer:
    """Return a head whose single score is the log odds of the positive class, which may be the first of two."""
    is_last = target.positive == target.n_outputs - 1
    return head if is_last else {name: -value for name, value in head.items()}


class PublishedParts(NamedTuple):
    """The parts of a published model, in terms of this library.

    Attributes
    ----------
    parameters : dict
        Parameters of a ``BagClassifier`` with this network.
    instance_shape : tuple of int
    n_classes : int
    layers : dict of str to dict
        Tensors of each layer, by the name that the layer has in ``BagClassifier``.
    """

    parameters: dict[str, Any]
    instance_shape: tuple[int, ...]
    n_classes: int
    layers: dict[str, Layer]


class StateDict:
    """The tensors of a state dictionary, by names without the prefixes that wrappers add.

    It keeps track of the tensors that were read: any that remain belong to an unknown part of the model.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._tensors = {WRAPPER_PREFIXES.sub("", name): tensor for name, tensor in read_tensors(path).items()}
        self._unused = set(self._tensors)

    def has(self, pattern: str) -> bool:
        """Check whether a whole name matches the pattern."""
        return any(re.fullmatch(pattern, name) for name in self._tensors)

    def find_indices(self, name: str) -> list[int]:
        """Return the indices of the layers with weights in the ``nn.Sequential`` of this name."""
        matches = (re.fullmatch(rf"{name}\.(\d+)\.weight", found) for found in self._tensors)
        return sorted(int(match[1]) for match in matches if match)

    def get_layer(self, pattern: str, *, bias: bool = True) -> Layer:
        """Return the weight and, optionally, the bias of the only layer whose name matches the pattern."""
        weights = [name for name in self._tensors if re.fullmatch(rf"{pattern}\.weight", name)]
        if len(weights) != 1:
            raise InputError(
                f"{self.path} has {len(weights)} layers {pattern}, but one was expected; {self._list_names()}"
            )
        layer = {"weight": self._get_tensor(weights[0])}
        if bias:
            layer["bias"] = self._get_tensor(weights[0].removesuffix("weight") + "bias")
        return layer

    def ignore(self, pattern: str) -> None:
        """Mark tensors that do not affect predictions as used."""
        self._unused -= {name for name in self._unused if re.fullmatch(pattern, name)}

    def check_all_used(self) -> None:
        """Reject a file with other tensors: they belong to a different model, which would predict differently."""
        if self._unused:
            raise InputError(
                f"{self.path} has tensors that are not part of such a model: {', '.join(sorted(self._unused)[:5])}; "
                "pass a checkpoint of an unmodified model"
            )

    def _get_tensor(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise InputError(f"{self.path} has no {name}; {self._list_names()}")
        self._unused.discard(name)
        if not self._tensors[name].isfinite().all():
            raise InputError(
                f"{self.path}: {name} has values that are not finite, so the model cannot predict; train it again"
            )
        return self._tensors[name].float()

    def _list_names(self) -> str:
        return f"the file has {', '.join(sorted(self._tensors)[:8]) or 'no tensors'}"


def is_attention_deep_mil(state: StateDict) -> bool:
    return state.has(rf"{DEEP_MIL_FEATURES}\.\d+\.weight")


def read_attention_deep_mil(state: StateDict) -> PublishedParts:
    """Read the parts of a model of AttentionDeepMIL."""
    first, second = _find_two_layers(state, DEEP_MIL_FEATURES)
    gated = state.has(rf"{DEEP_MIL_LAST}\.weight")
    pooling = _read_gated_deep_mil(state) if gated else _read_plain_deep_mil(state)
    scaling = {
        "center": torch.full((1, 1, 1), 255 * MNIST_MEAN),
        "scale": torch.full((1, 1, 1), 255 * MNIST_DEVIATION),
    }
    return PublishedParts(
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
            "encoder.1.0": state.get_layer(rf"{DEEP_MIL_FEATURES}\.{first}"),
            "encoder.1.3": state.get_layer(rf"{DEEP_MIL_FEATURES}\.{second}"),
            "encoder.1.7": state.get_layer(r"feature_extractor_part2\.\d+"),
            **{f"pooling.{name}": layer for name, layer in pooling.items()},
            "head": state.get_layer(r"classifier\.\d+"),
        },
    )


def _find_two_layers(state: StateDict, name: str) -> list[int]:
    indices = state.find_indices(name)
    if len(indices) != 2:
        raise InputError(
            f"{state.path}: {name} has {len(indices)} layers with weights, but two were expected; pass a checkpoint "
            "of AttentionDeepMIL"
        )
    return indices


def _read_gated_deep_mil(state: StateDict) -> dict[str, Layer]:
    state.ignore(rf"{DEEP_MIL_LAST}\.bias")  # the same for all instances, so it cancels in the softmax
    gates = {name: state.get_layer(pattern) for name, pattern in DEEP_MIL_GATES.items()}
    return {**gates, "w": state.get_layer(DEEP_MIL_LAST, bias=False)}


def _read_plain_deep_mil(state: StateDict) -> dict[str, Layer]:
    hidden, last = _find_two_layers(state, "attention")
    state.ignore(rf"attention\.{last}\.bias")
    return {"V": state.get_layer(rf"attention\.{hidden}"), "w": state.get_layer(rf"attention\.{last}", bias=False)}


def is_clam(state: StateDict) -> bool:
    return state.has(r"attention_net\.\d+\.(attention_c|module\.\d+)\.weight")


def read_clam(state: StateDict) -> PublishedParts:
    """Read the parts of a single-branch CLAM."""
    gated = state.has(rf"{CLAM_ATTENTION}\.attention_c\.weight")
    encoder = state.get_layer(CLAM_ATTENTION)
    pooling = _read_gated_clam(state) if gated else _read_plain_clam(state)
    if not state.has(r"classifiers\.weight"):
        raise InputError(f"{state.path} is a CLAM model with several branches; pass one with a single branch (clam_sb)")
    head = state.get_layer(r"classifiers")
    state.ignore(r"instance_classifiers\..*")
    width, n_features = encoder["weight"].shape
    if width != CLAM_WIDTH:
        raise InputError(
            f"{state.path} has embeddings of width {width}, but those of CLAM have {CLAM_WIDTH}; pass a CLAM "
            "model of that width"
        )
    return PublishedParts(
        parameters={
            "encoder": "projection",
            "pooling": "biased gated attention" if gated else "biased attention",
            "attention_width": pooling["V"]["weight"].shape[0],
        },
        instance_shape=(n_features,),
        n_classes=head["weight"].shape[0],
        layers={
            "encoder.0": {"center": torch.zeros(n_features), "scale": torch.ones(n_features)},  # not scaled
            "encoder.1.1": encoder,
            **{f"pooling.{name}": layer for name, layer in pooling.items()},
            "head": make_two_class_head(head),
        },
    )


def _read_gated_clam(state: StateDict) -> dict[str, Layer]:
    layers = {
        "V": state.get_layer(rf"{CLAM_ATTENTION}\.attention_a\.0"),
        "U": state.get_layer(rf"{CLAM_ATTENTION}\.attention_b\.0"),
        "w": state.get_layer(rf"{CLAM_ATTENTION}\.attention_c", bias=False),
    }
    state.ignore(rf"{CLAM_ATTENTION}\.attention_c\.bias")  # the same for all instances, so it cancels in the softmax
    return layers


def _read_plain_clam(state: StateDict) -> dict[str, Layer]:
    layers = {
        "V": state.get_layer(rf"{CLAM_ATTENTION}\.module\.0"),
        "w": state.get_layer(rf"{CLAM_ATTENTION}\.module\.[1-9]", bias=False),
    }
    state.ignore(rf"{CLAM_ATTENTION}\.module\.[1-9]\.bias")
    return layers


def make_two_class_head(head: Layer) -> Layer:
    """Replace a head with two scores by one with their difference, which gives the same probabilities."""
    if head["weight"].shape[0] != 2:
        return head
    return {name: (value[1] - value[0])[None] for name, value in head.items()}


READERS = ((is_clam, read_clam), (is_attention_deep_mil, read_attention_deep_mil))
