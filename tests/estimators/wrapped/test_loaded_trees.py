import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from bagwise.errors import InputError
from bagwise.estimators.wrapped.loaded_trees import check_trees

DRAWS = np.random.default_rng(1)
ROWS, TARGETS = DRAWS.normal(size=(60, 4)), np.arange(60) % 2
HOLDERS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_leaf_nodes=6),  # grown by another builder
    ExtraTreesClassifier(3),
    GradientBoostingClassifier(n_estimators=3),
    BaggingClassifier(DecisionTreeClassifier(), 3, max_features=0.5),
    make_pipeline(StandardScaler(), ExtraTreesClassifier(3)),
]


def forged(tree, **changes):
    """The same tree with other numbers, as a file could hold them."""
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    for field, (node, value) in changes.items():
        if field != "node_count":
            nodes[field][node] = value
    count = changes["node_count"][1] if "node_count" in changes else state["node_count"]
    again = Tree(*tree.__reduce__()[1])
    again.__setstate__({**state, "nodes": nodes, "node_count": count})
    return again


@pytest.mark.parametrize("holder", HOLDERS, ids=str)
def test_what_a_fit_gives_is_sound(holder):
    check_trees(holder.fit(ROWS, TARGETS))


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": (0, 10**6)},
        {"right_child": (0, 10**6)},
        {"right_child": (0, -7)},
        {"left_child": (1, 0)},  # a loop
        {"left_child": (0, 0)},
        {"feature": (0, 4)},
        {"feature": (0, -1)},
        {"node_count": (0, 0)},
    ],
    ids=str,
)
@pytest.mark.parametrize("place", ["alone", "forest", "pipeline"])
def test_a_pointer_out_of_bounds_is_refused(changes, place):
    single = DecisionTreeClassifier(random_state=0).fit(ROWS, TARGETS)
    assert single.tree_.children_left[1] != -1  # else there is no loop to make
    single.tree_ = forged(single.tree_, **changes)
    forest = ExtraTreesClassifier(3).fit(ROWS, TARGETS)
    forest.estimators_[2] = single
    holder = {"alone": single, "forest": forest, "pipeline": make_pipeline(StandardScaler(), forest)}[place]
    with pytest.raises(InputError, match="do not trust its source"):
        check_trees(holder)


def test_trees_of_wider_rows_than_their_owner_are_refused():
    forest = ExtraTreesClassifier(3).fit(ROWS, TARGETS)
    forest.n_features_in_ = 2
    with pytest.raises(InputError, match="do not trust"):
        check_trees(forest)
    single = DecisionTreeClassifier().fit(ROWS, TARGETS)
    single.n_features_in_ = 2
    with pytest.raises(InputError, match="do not trust"):
        check_trees(single)
