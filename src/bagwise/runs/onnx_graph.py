"""Export of a fitted network as one ONNX graph, for use without torch. The number of instances is a dynamic axis.

    input    instances      (K, …) float32, as bags store them: images as height × width × channels, bytes as 0 … 255
    output   probabilities  (C,) float32, in the order of the classes; other targets name their outputs otherwise
    output   weights        (K,) float32, which sum to one

Preprocessing, calibration and likelihood are part of the graph. The target (for classes, their labels and the positive
one), the decision threshold and the version are in the graph's metadata. The poolings use the same code as for a bag
that is processed in chunks (``nn.pooling.AdditivePooling``).
"""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

import bagwise
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator, BagNetwork, to_plain
from bagwise.io import write_atomically
from bagwise.nn import Offsets, list_members
from bagwise.nn.pooling import AdditivePooling
from bagwise.targets import save_target

PACKAGES = ("onnx", "onnxscript")
EXAMPLE_SIZE = 7  # number of instances in the bag used for tracing; the value is arbitrary


def write_onnx(estimator: BagEstimator, path: str | Path) -> Path:
    """Write a fitted network, such as a ``BagClassifier``, as an ONNX graph; requires ``bagwise[onnx]``.

    Parameters
    ----------
    estimator : BagEstimator
        A fitted network; other estimators cannot be exported.
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    InputError
        If the estimator is not a network, its pooling or context cannot be exported, or a package is missing.

    Examples
    --------
    >>> write_onnx(model, "model.onnx")  # doctest: +SKIP
    """
    if not isinstance(estimator, BagNetwork):
        raise InputError(
            f"a {type(estimator).__name__} cannot be written as ONNX, only a network (BagClassifier) can; "
            "export without --onnx"
        )
    check_onnx_packages()
    path = Path(path)
    network, example = SingleBagNetwork(estimator), torch.zeros(EXAMPLE_SIZE, *estimator.instance_shape_)
    with _suppress_torch_messages(), _translate_context_errors(estimator):
        program: Any = torch.onnx.export(
            network,
            (example,),
            dynamo=True,
            input_names=["instances"],
            output_names=[estimator.target_.outputs_name, "weights"],
            dynamic_shapes=({0: torch.export.Dim("instances", min=1)},),
            verbose=False,
        )
    program.model.metadata_props.update({name: json.dumps(value) for name, value in _make_metadata(estimator).items()})
    with write_atomically(path) as temporary:
        program.save(temporary, external_data=False)
    return path


def check_onnx_packages() -> None:
    """Check that the packages for ONNX export are installed.

    Raises
    ------
    InputError
        If a package is missing.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise InputError(f"writing ONNX needs {' and '.join(missing)}: pip install 'bagwise[onnx]'")


def _make_metadata(estimator: BagNetwork) -> dict[str, Any]:
    classes = getattr(estimator.target_, "classes", None)
    return {
        "bagwise": bagwise.__version__,
        **({"classes": [to_plain(label) for label in classes]} if classes is not None else {}),
        "target": save_target(estimator.target_),
        "decision_threshold": estimator.decision_threshold,
        "instance_shape": list(estimator.instance_shape_),
        "extractor": estimator.extractor_,
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist(),
    }


@contextmanager
def _suppress_torch_messages() -> Iterator[None]:
    """Suppress messages about packages that the graph does not need, and about deprecated parts of torch itself."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def _translate_context_errors(estimator: BagNetwork) -> Iterator[None]:
    """Explain the failed export of a model with a context: the library's own parts are known to be exportable."""
    try:
        yield
    except torch.onnx.OnnxExporterError as error:
        context = estimator.context
        if context is None:
            raise
        raise InputError(
            f"the context {context.title} cannot be exported, because it cannot be traced for a bag of any size; use "
            "offsets in functions of bagwise.nn such as segment_split only, or export without --onnx"
        ) from error


class SingleBagNetwork(nn.Module):
    """A fitted network as a function of one bag: instances → outputs, weights."""

    offset: Tensor

    def __init__(self, estimator: BagNetwork) -> None:
        super().__init__()
        self.model = estimator.model_.cpu().eval()
        self.likelihood = estimator.likelihood_
        self.output_likelihood = estimator.target_.likelihood
        self.slope = estimator.calibration_.slope
        self.register_buffer("offset", torch.from_numpy(estimator.calibration_.offset), persistent=False)
        pooling = self.model.pooling
        if not isinstance(pooling, AdditivePooling):
            name = type(list_members(self.model)[0].pooling).__name__
            raise InputError(
                f"the pooling {name} cannot be exported, because it is not defined by sums over "
                "instances; derive it from bagwise.nn.pooling.AdditivePooling"
            )
        self.pooling = pooling

    def forward(self, instances: Tensor) -> tuple[Tensor, Tensor]:
        offsets = cast(Offsets, SymbolicOffsets(instances.shape[0]))
        pooled = AdditivePooling.forward(self.pooling, self.model.embed(instances, offsets), offsets)
        scores = self.likelihood.combine_scores(self.model.head(pooled.values).double())
        outputs = self.output_likelihood.outputs(scores * self.slope + self.offset)
        return outputs[0].float(), pooled.weights.mean(dim=1)


class SymbolicOffsets:
    """The offsets of one bag of symbolic size during export, with the operations that ``nn.segments`` uses."""

    def __init__(self, size: Any) -> None:
        self._size = size

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return {0: 0, -1: self._size}[index]

    def diff(self) -> Tensor:
        return torch.ones(self._size, dtype=torch.int64).sum(dim=0, keepdim=True)
