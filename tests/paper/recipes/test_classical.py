from bagwise.comparing.plan import build
from bagwise.estimators import Selected
from bagwise.estimators.holding.committee import default_members
from bagwise.paper.recipes import RECIPES


def test_table_1_has_the_optimiser_of_the_appendix():
    plans = {setting.name: setting.plans[0] for setting in RECIPES["table1"].settings(5, False)}
    assert (plans["musk2"].folds, plans["musk2"].repeats) == (10, 5)
    model = build(plans["musk2"], "attention")
    assert (model.optimizer, model.momentum, model.learning_rate, model.weight_decay) == ("sgd", 0.9, 5e-4, 0.03)
    assert (model.epochs, model.attention_width, model.validation) == (100, 64, None)
    assert isinstance(build(plans["musk2"], "MI-SVM"), Selected)


def test_the_members_of_the_committee_are_rows_of_the_table():
    plan = RECIPES["table1"].settings(1, False)[0].plans[0]
    members = default_members()
    assert {name: repr(member) for name, member in members.items()} == {
        name: repr(build(plan, name)) for name in members
    }
    assert plan.data == "musk1"
    assert plan.methods["committee"] == {}


def test_the_quick_version_leaves_out_what_holds_other_methods():
    whole, quick = ({*RECIPES["table1"].settings(1, quick)[0].plans[0].methods} for quick in (False, True))
    assert whole - quick == {"super learner", "committee"}
    assert not quick - whole
