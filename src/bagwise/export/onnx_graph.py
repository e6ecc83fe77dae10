"""One ONNX graph with a free number of instances: what deploys a model where there is no torch.

    input    instances      (K, …) float32, as bags store them: images as height × width × channels, bytes as 0 … 255
    output   probabilities  (C,) float32
    output   weights        (K,) float32, which sum to one

The classes, the threshold of a decision between two of them, and the version stand in the graph's own metadata.
"""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

import bagwise
from bagwise.errors import InputError
from bagwise.estimators import BagClassifier
from bagwise.estimators.saving import plain
from bagwise.export.one_bag import OneBag
from bagwise.files import atomic

PACKAGES = ("onnx", "onnxscript")
SHOWN = 7  # instances of the bag that the graph is drawn from; any number would do


def write_onnx(estimator: Any, path: str | Path) -> Path:
    """Write the network of a fitted ``BagClassifier`` as an ONNX graph; needs ``bagwise[onnx]``.

    >>> write_onnx(model, "model.onnx")  # doctest: +SKIP
    """
    if not isinstance(estimator, BagClassifier):
        raise InputError(
            f"a {type(estimator).__name__} cannot be written as ONNX, only a network (BagClassifier) can; "
            "export without --onnx"
        )
    check_packages()
    path = Path(path)
    graph, example = OneBag(estimator), torch.zeros(SHOWN, *estimator.instance_shape_)
    with _quietly():
        program: Any = torch.onnx.export(
            graph,
            (example,),
            dynamo=True,
            input_names=["instances"],
            output_names=["probabilities", "weights"],
            dynamic_shapes=({0: torch.export.Dim("instances", min=1)},),
            verbose=False,
        )
    program.model.metadata_props.update({name: json.dumps(value) for name, value in _facts(estimator).items()})
    with atomic(path) as draft:
        program.save(draft, external_data=False)
    return path


def check_packages() -> None:
    """Refuse, before any work, where a package is missing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise InputError(f"writing ONNX needs {' and '.join(missing)}: pip install 'bagwise[onnx]'")


def _facts(estimator: BagClassifier) -> dict[str, Any]:
    return {
        "bagwise": bagwise.__version__,
        "classes": [plain(label) for label in estimator.classes_],
        "decision_threshold": estimator.decision_threshold,
        "instance_shape": list(estimator.instance_shape_),
        "extractor": estimator.extractor_,
    }


@contextmanager
def _quietly() -> Iterator[None]:
    """Without torch's remarks on packages that the graph does not need, and on its own deprecated parts."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
