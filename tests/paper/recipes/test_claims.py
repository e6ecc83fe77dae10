from bagwise.comparing.plan import build
from bagwise.paper.recipes import RECIPES


def test_each_width_of_attention_is_a_column():
    settings = RECIPES["claims"].settings(2, False)
    assert [setting.column for setting in settings] == ["64", "128", "256"] * 2
    assert len({setting.table for setting in settings}) == 2
    for setting in settings:
        for plan in setting.plans:
            assert {build(plan, method).attention_width for method in plan.methods} == {int(setting.column)}
            assert {"attention", "gated attention", "embedding+mean"} == plan.methods.keys()


def test_digits_are_drawn_anew_and_folds_repeated():
    digits, *_, musk = RECIPES["claims"].settings(3, False)
    assert [plan.options["seed"] for plan in digits.plans] == [0, 1, 2]
    assert [plan.repeats for plan in musk.plans] == [3]
