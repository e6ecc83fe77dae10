from bagwise.comparing.plan import build
from bagwise.estimators import Selected
from bagwise.paper.recipes import RECIPES


def test_table_1_has_the_optimiser_of_the_appendix():
    plans = {setting.name: setting.plans[0] for setting in RECIPES["table1"].settings(5, False)}
    assert (plans["musk2"].folds, plans["musk2"].repeats) == (10, 5)
    model = build(plans["musk2"], "attention")
    assert (model.optimizer, model.momentum, model.learning_rate, model.weight_decay) == ("sgd", 0.9, 5e-4, 0.03)
    assert (model.epochs, model.attention_width, model.validation) == (100, 64, None)
    assert isinstance(build(plans["musk2"], "MI-SVM"), Selected)
