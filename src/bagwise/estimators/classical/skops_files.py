"""Serialisation of fitted scikit-learn classifiers in the skops format, which stores types and arrays; no pickle.

Only objects of listed types are created when a file is loaded: the types that skops considers safe (scikit-learn's
public estimators, arrays, numbers), and ``TRUSTED_TYPES``. All other types are rejected, both when saving and when
loading.

Decision trees are checked after loading. scikit-learn uses the child and feature indices of a tree without bounds
checks, so a forged file could make it read memory outside the tree. A tree is valid if the children of each node come
after it and are within the tree, and if its feature indices are within the rows that the tree receives, which a forest
does not check.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import TREE_LEAF, Tree
from torch import Tensor

from bagwise.errors import InputError

SCHEMA = "schema.json"  # of a skops archive
ADDRESS = re.compile(r'(?<="__id__": )\d+|(?<=")\d+(?=\.np[yz]")')  # of an object in memory, in the schema
TRUSTED_TYPES = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)


def dump_classifier(classifier: BaseEstimator) -> Tensor:
    """Serialise a fitted classifier to bytes; equal classifiers have equal bytes."""
    skops = _import_skops("saving")
    name = type(classifier).__name__
    try:
        content = skops.dumps(classifier)
    except TypeError as error:
        raise InputError(f"{name} cannot be saved ({error}); use another classifier") from None
    if untrusted := _find_untrusted_types(skops, content):
        raise InputError(
            f"{name} cannot be saved: it contains {untrusted}, but only types of scikit-learn that are known to be "
            "safe can be loaded; use another classifier"
        )
    return torch.from_numpy(np.frombuffer(_normalize_archive(content), dtype=np.uint8).copy())


def load_classifier(content: Tensor) -> Any:
    """Load a classifier from the bytes of ``dump_classifier``; the bytes need not be trusted."""
    skops = _import_skops("loading")
    data = content.numpy().tobytes()
    if untrusted := _find_untrusted_types(skops, data):
        raise InputError(
            f"the saved classifier contains {untrusted}, but only types of scikit-learn that are known to be safe are "
            "loaded; do not trust the source of the file"
        )
    classifier = skops.loads(data, trusted=list(TRUSTED_TYPES))
    check_trees(classifier)
    return classifier


def _normalize_archive(content: bytes) -> bytes:
    """Number the objects of a skops archive, which are named by their addresses in memory, and remove the times."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    addresses = dict.fromkeys(ADDRESS.findall(files[SCHEMA].decode()))
    numbers = {address: str(number) for number, address in enumerate(addresses)}
    files[SCHEMA] = ADDRESS.sub(lambda found: numbers[found[0]], files[SCHEMA].decode()).encode()
    renamed = {re.sub(r"^\d+", lambda found: numbers[found[0]], name): data for name, data in files.items()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(renamed):
            archive.writestr(zipfile.ZipInfo(name), renamed[name])
    return stream.getvalue()


def _find_untrusted_types(skops: Any, data: bytes) -> str:
    return ", ".join(sorted(set(skops.get_untrusted_types(data=data)) - set(TRUSTED_TYPES)))


def _import_skops(action: str) -> Any:
    try:
        import skops.io
    except ImportError:
        raise InputError(
            f"{action} a scikit-learn classifier requires skops, which is not installed; install it with: "
            "pip install 'bagwise[classifiers]'"
        ) from None
    return skops.io


def check_trees(estimator: Any) -> None:
    """Reject an estimator that contains an invalid decision tree, also nested."""
    if not all(map(_is_valid, _walk(estimator))):
        raise InputError("the saved classifier contains an invalid decision tree; do not trust the source of the file")


def _walk(value: Any) -> Iterator[Any]:
    """Yield a value and everything it contains."""
    yield value
    if isinstance(value, dict):
        children = list(value.values())
    elif isinstance(value, list | tuple):
        children = list(value)
    elif isinstance(value, np.ndarray):
        children = list(value.flat) if value.dtype == object else []
    else:
        children = list(getattr(value, "__dict__", {}).values())
    for child in children:
        yield from _walk(child)


def _is_valid(value: Any) -> bool:
    if isinstance(value, Tree):
        return value.node_count == value.capacity >= 1 and _has_valid_indices(value)
    if isinstance(value, BaseDecisionTree) and hasattr(value, "tree_"):
        return value.tree_.n_features == value.n_features_in_
    if isinstance(value, BaseForest | BaseGradientBoosting) and hasattr(value, "estimators_"):
        return all(tree.n_features_in_ == value.n_features_in_ for tree in np.ravel(value.estimators_))
    return True


def _has_valid_indices(tree: Tree) -> bool:
    nodes = np.arange(tree.node_count)
    is_inner = tree.children_left != TREE_LEAF
    children = np.stack([tree.children_left, tree.children_right])[:, is_inner]
    features = tree.feature[is_inner]
    are_ordered = (children > nodes[is_inner]).all() and (children < tree.node_count).all()
    return bool(are_ordered and (features >= 0).all() and (features < tree.n_features).all())
