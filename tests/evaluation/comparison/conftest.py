"""A small comparison, shared by the tests that only read it."""

import pytest


@pytest.fixture(scope="session")
def comparison(tmp_path_factory):
    from bagwise.evaluation.comparison.plan import make_plan
    from bagwise.evaluation.comparison.runner import compare_methods

    methods = {"MI-Kernel": {"calibration": False}, "extra trees": {}, "naive": {}}
    plan = make_plan("needles", methods, options={"n_bags": 24}, folds=3, repeats=2)
    return compare_methods(tmp_path_factory.mktemp("comparison") / "comparison", plan)
