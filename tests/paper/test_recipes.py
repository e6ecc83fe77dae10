import pytest

from bagwise.comparing.plan import build
from bagwise.estimators import Selected
from bagwise.paper.published import published
from bagwise.paper.recipes import RECIPES


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("quick", [False, True])
def test_every_published_number_has_a_setting_that_measures_it(name, quick):
    settings = RECIPES[name].settings(2, quick)
    for setting in settings:
        wanted = {method for method, column in published(setting.table) if column == setting.column}
        assert wanted
        assert all(wanted <= plan.methods.keys() for plan in setting.plans)
    if not quick:
        covered = {(setting.table, setting.column) for setting in settings}
        assert covered == {(table, column) for table in {t for t, _ in covered} for _, column in published(table)}


def test_table_1_has_the_optimiser_of_the_appendix():
    plans = {setting.name: setting.plans[0] for setting in RECIPES["table1"].settings(5, False)}
    assert (plans["musk2"].folds, plans["musk2"].repeats) == (10, 5)
    model = build(plans["musk2"], "attention")
    assert (model.optimizer, model.momentum, model.learning_rate, model.weight_decay) == ("sgd", 0.9, 5e-4, 0.03)
    assert (model.epochs, model.attention_width, model.validation) == (100, 64, None)
    assert isinstance(build(plans["musk2"], "MI-SVM"), Selected)


def test_mnist_bags_draws_new_bags_for_every_repeat():
    settings = {setting.name: setting for setting in RECIPES["mnist-bags"].settings(3, False)}
    assert len(settings) == 21
    plans = settings["size-50-bags-150"].plans
    assert [plan.options["seed"] for plan in plans] == [0, 1, 2]
    assert {(plan.options["mean_size"], plan.options["n_bags"]) for plan in plans} == {(50, 150)}
    machine = build(plans[0], "MI-SVM")
    assert (machine.C, machine.gamma, machine.max_iterations) == (5.0, 0.0005, 200)
