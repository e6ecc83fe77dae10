import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.classical.mi_kernel import MIKernel
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.meta.committee import Committee
from bagwise.estimators.meta.screening import (
    DEFAULT_SCREEN,
    ScreenedMethod,
    build_screened_methods,
    estimate_seconds,
    is_feasible,
    restore_screening,
    select_within_budget,
)
from bagwise.estimators.methods import SINGLE_METHODS
from bagwise.estimators.registry import build_method
from bagwise.estimators.training_tasks import LabelledBags
from bagwise.targets.classes import ClassTarget

TARGET = ClassTarget(np.array([0, 1]))
SECONDS = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0.1, 1e4), min_size=1, max_size=8)


def make_known(n_bags, bag_size=10, width=5):
    """Training bags of a size; their values do not matter."""
    instances = np.broadcast_to(np.float32(0), (n_bags * bag_size, *np.atleast_1d(width)))
    return LabelledBags(Bags(instances, np.arange(0, n_bags * bag_size + 1, bag_size)), np.arange(n_bags) % 2)


def estimate(estimator, folds=None, **sizes):
    return estimate_seconds(estimator, make_known(**sizes), TARGET, folds)


def test_build_screened_methods_are_those_of_the_registry():
    assert list(build_screened_methods(None)) == list(DEFAULT_SCREEN)
    for name, estimator in build_screened_methods(list(SINGLE_METHODS)).items():
        assert repr(estimator) == repr(build_method(name))


def test_build_screened_methods_share_nothing_between_calls():
    first, second = build_screened_methods(None), build_screened_methods(None)
    assert not {id(each) for each in first.values()} & {id(each) for each in second.values()}


@pytest.mark.parametrize("wrong", ["extra trees", [], [1], 3])
def test_build_screened_methods_rejects_what_is_no_list_of_names(wrong):
    with pytest.raises(InputError, match="it must be a list of names of methods"):
        build_screened_methods(wrong)


@pytest.mark.parametrize("name", SINGLE_METHODS)
def test_estimate_seconds_grows_with_the_data_for_every_method(name):
    estimator = SINGLE_METHODS[name].build()
    small, large = estimate(estimator, n_bags=40), estimate(estimator, n_bags=4_000, bag_size=100, width=500)
    assert 0 < small < 60
    assert large > small or name == "majority"


def test_estimate_seconds_depends_on_sizes_alone():
    bags = load_dataset("needles", n_bags=40)
    shuffled = bags.replace(instances=np.random.default_rng(0).permutation(bags.instances))
    targets = np.arange(40) % 2
    for estimator in build_screened_methods(None).values():
        before, after = (
            estimate_seconds(estimator, LabelledBags(each, targets), TARGET, None) for each in (bags, shuffled)
        )
        assert before == after


def test_estimate_seconds_counts_the_fits():
    """A method with folds of its own is fitted once, any other once per fold and once to all bags."""
    assert estimate(MIKernel(), n_bags=400, folds=5) == pytest.approx(6 * estimate(MIKernel(), n_bags=400), rel=0.2)
    trees = PooledClassifier(ExtraTreesClassifier())
    assert estimate(trees, n_bags=400) == estimate(trees, n_bags=400, folds=5)
    networks = [BagClassifier(validation=5, epochs=epochs) for epochs in (100, 200)]
    once, twice = (estimate(network, n_bags=100) for network in networks)
    assert twice == pytest.approx(2 * once, rel=0.2)
    assert estimate(networks[0], n_bags=100, folds=5) == pytest.approx(6 * once, rel=0.2)
    whole = BagClassifier(validation=None, patience=None, calibration=False, epochs=100)
    assert estimate(whole, n_bags=100) == pytest.approx(6 / 4 * once, rel=0.2)


def test_estimate_seconds_of_images_is_higher():
    vectors, images = (estimate(BagClassifier(), n_bags=50, width=width) for width in (784, (28, 28)))
    assert images > 5 * vectors


def test_is_feasible_leaves_networks_and_trees_for_any_number_of_instances():
    library = build_screened_methods(None)
    sizes = {"small": {"n_bags": 100}, "large": {"n_bags": 5_000}, "huge": {"n_bags": 20_000, "width": 2_000}}
    feasible = {
        size: {name for name, each in library.items() if is_feasible(each, make_known(**numbers).bags)}
        for size, numbers in sizes.items()
    }
    assert feasible["small"] == set(DEFAULT_SCREEN)
    assert set(DEFAULT_SCREEN) - feasible["large"] == {"MI-SVM"}
    assert feasible["huge"] == {"gated attention", "extra trees"}


def test_estimate_seconds_knows_methods_only():
    assert estimate(Committee(), n_bags=40) is None


@given(SECONDS, st.floats(1, 2e4))
def test_select_within_budget_keeps_the_fastest_methods_that_fit(seconds, budget):
    if min(seconds.values()) > budget:
        with pytest.raises(InputError, match="the fastest method, is expected to take"):
            select_within_budget(seconds, budget)
        return
    kept = select_within_budget(seconds, budget)
    assert kept == [name for name in seconds if name in kept], "the order of the list"
    total = sum(seconds[name] for name in kept)
    assert total <= budget * (1 + 1e-9)
    dropped = [seconds[name] for name in seconds if name not in kept]
    if dropped:
        assert min(dropped) >= max(seconds[name] for name in kept)
        assert total + min(dropped) > budget * (1 - 1e-9)


def test_select_within_budget_names_a_budget_that_is_large_enough():
    with pytest.raises(InputError, match=r"fast, the fastest method, .* take 2\.4 s; set budget to at least '3s'"):
        select_within_budget({"slow": 9.0, "fast": 2.4}, budget=1)
    assert select_within_budget({"slow": 9.0, "fast": 2.4}, budget=3) == ["fast"]


def test_restore_screening_inverts_the_saved_form_and_rejects_forged_numbers():
    table = [ScreenedMethod(name="a", weight=0.3, seconds=1.5, metrics={"auc": None, "log_loss": 0.2})]
    assert restore_screening([row._asdict() for row in table]) == table
    for forged in ({"weight": float("nan")}, {"weight": "1"}, {"metrics": {"auc": float("inf")}}):
        with pytest.raises(InputError, match="of a is"):
            restore_screening([table[0]._replace(**forged)._asdict()])


def test_screened_method_as_dict_is_a_flat_row():
    row = ScreenedMethod(name="a", weight=0.3, seconds=1.5, metrics={"auc": None}).as_dict()
    assert row == {"method": "a", "weight": 0.3, "estimated_seconds": 1.5, "auc": None}
