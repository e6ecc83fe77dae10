"""Fitted classifiers of scikit-learn as bytes, in the format of skops: a table of types and numbers, never a pickle.

Loading makes objects of listed types only: what skops holds for harmless (scikit-learn's public estimators, arrays,
numbers), and the parts below, of which trees are checked. All else is refused, and refused when it is saved already.
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from bagwise.errors import InputError
from bagwise.estimators.wrapped.loaded_trees import check_trees

PARTS = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)


def packed(estimator: BaseEstimator) -> Tensor:
    """A fitted estimator as bytes."""
    skops = _skops("saved")
    try:
        content = skops.dumps(estimator)
    except TypeError as error:
        raise InputError(f"{_named(estimator)} cannot be saved ({error}); use another classifier") from None
    if unknown := set(skops.get_untrusted_types(data=content)) - set(PARTS):
        raise InputError(
            f"{_named(estimator)} cannot be saved: it holds {', '.join(sorted(unknown))}, and only parts of "
            "scikit-learn that are known to be harmless are ever loaded; use another classifier"
        )
    return torch.from_numpy(np.frombuffer(content, dtype=np.uint8).copy())


def unpacked(content: Tensor) -> Any:
    """The inverse of ``packed``, for bytes of any source."""
    skops = _skops("loaded")
    data = content.numpy().tobytes()
    if unknown := set(skops.get_untrusted_types(data=data)) - set(PARTS):
        raise InputError(
            f"the saved classifier holds {', '.join(sorted(unknown))}, and only parts of scikit-learn that are known "
            "to be harmless are loaded: do not trust its source"
        )
    estimator = skops.loads(data, trusted=list(PARTS))
    check_trees(estimator)
    return estimator


def _skops(done: str) -> Any:
    try:
        import skops.io
    except ImportError:
        raise InputError(
            f"classifiers of scikit-learn are {done} with skops, which is not installed: "
            "pip install 'bagwise[classifiers]'"
        ) from None
    return skops.io


def _named(estimator: BaseEstimator) -> str:
    return type(estimator).__name__
