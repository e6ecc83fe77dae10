"""Decision trees that come from a file: every pointer is checked before one is followed.

scikit-learn follows a tree's numbers (of children, of features) without looking, so a forged file could make it read
memory that is not its own. A tree is sound if the children of a node lie behind it and within the tree, and the
features within the rows that the tree is given, which a forest hands to its trees unchecked.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import TREE_LEAF, Tree

from bagwise.errors import InputError


def check_trees(estimator: Any) -> None:
    """Refuse an estimator that holds an unsound tree, however deep."""
    if not all(map(_is_sound, _parts(estimator))):
        raise InputError("the saved classifier holds a decision tree that no fit can give: do not trust its source")


def _parts(thing: Any) -> Iterator[Any]:
    """A thing and all that it holds."""
    yield thing
    if isinstance(thing, dict):
        held = list(thing.values())
    elif isinstance(thing, list | tuple):
        held = list(thing)
    elif isinstance(thing, np.ndarray):
        held = list(thing.flat) if thing.dtype == object else []
    else:
        held = list(getattr(thing, "__dict__", {}).values())
    for part in held:
        yield from _parts(part)


def _is_sound(part: Any) -> bool:
    if isinstance(part, Tree):
        return part.node_count == part.capacity >= 1 and _points_within(part)
    if isinstance(part, BaseDecisionTree) and hasattr(part, "tree_"):
        return part.tree_.n_features == part.n_features_in_
    if isinstance(part, BaseForest | BaseGradientBoosting) and hasattr(part, "estimators_"):
        return all(tree.n_features_in_ == part.n_features_in_ for tree in np.ravel(part.estimators_))
    return True


def _points_within(tree: Tree) -> bool:
    nodes = np.arange(tree.node_count)
    inner = tree.children_left != TREE_LEAF
    children = np.stack([tree.children_left, tree.children_right])[:, inner]
    features = tree.feature[inner]
    behind = (children > nodes[inner]).all() and (children < tree.node_count).all()
    return bool(behind and (features >= 0).all() and (features < tree.n_features).all())
