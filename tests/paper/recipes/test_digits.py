import pytest

from bagwise.comparing.plan import build
from bagwise.estimators.svm.planes import MOST_ROWS
from bagwise.paper.recipes import RECIPES

SETTINGS = RECIPES["mnist-bags"].settings(1, False)


def test_every_repeat_draws_new_bags():
    settings = {setting.name: setting for setting in RECIPES["mnist-bags"].settings(3, False)}
    assert len(settings) == 21
    plans = settings["size-50-bags-150"].plans
    assert [plan.options["seed"] for plan in plans] == [0, 1, 2]
    assert {(plan.options["mean_size"], plan.options["n_bags"]) for plan in plans} == {(50, 150)}
    machine = build(plans[0], "MI-SVM")
    assert (machine.C, machine.gamma, machine.max_iterations) == (5.0, 0.0005, 200)


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])
def test_the_kernel_of_no_setting_is_too_large(setting):
    plan = setting.plans[0]
    digits = plan.options["mean_size"] * plan.options["n_bags"]
    assert (build(plan, "MI-SVM").components is None) == (digits < 0.9 * MOST_ROWS)
