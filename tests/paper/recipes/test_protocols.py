import pytest

from bagwise.comparing.plan import build
from bagwise.errors import InputError
from bagwise.paper.recipes import RECIPES
from bagwise.paper.recipes.protocols import DEFAULT, PROTOCOLS, under, under_all


def test_the_default_changes_nothing():
    settings = RECIPES["table1"].settings(1, False)
    assert under(DEFAULT, settings) == settings
    assert not any(plan.peeking for setting in settings for plan in setting.plans)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("experiment", RECIPES)
def test_a_protocol_stands_apart_and_holds_networks_alone(name, experiment):
    settings = RECIPES[experiment].settings(1, False)
    changed = under(name, settings)
    assert not {setting.name for setting in settings} & {setting.name for setting in changed}
    for before, now in zip(settings, changed, strict=True):
        assert PROTOCOLS[name].title in now.title
        assert now.comparable == before.comparable
        for plan in now.plans:
            assert "attention" in plan.methods
            assert not {"MI-SVM", "bagwise", "bagwise ensemble"} & plan.methods.keys()
            for method in plan.methods:
                model = build(plan, method)
                assert model.averaging == 0
                assert model.validation == (0.2 if name == "validation" else None)


def test_only_one_protocol_looks_at_the_test_bags():
    assert [name for name, protocol in PROTOCOLS.items() if protocol.peeking] == ["test fold"]
    assert all(
        plan.peeking for setting in under("test fold", RECIPES["table1"].settings(1, True)) for plan in setting.plans
    )


def test_a_wrong_name_is_refused_and_methods_without_epochs_are_left_out():
    settings = RECIPES["table1"].settings(1, True)
    with pytest.raises(InputError, match="did you mean 'validation'"):
        under("validaton", settings)
    machines = [
        setting._replace(plans=[plan._replace(methods={"MI-Kernel": {}}) for plan in setting.plans])
        for setting in settings
    ]
    assert under("validation", machines) == []


def test_all_of_them_are_shown_under_names_of_their_own():
    names = [setting.name for setting in under_all(RECIPES["breast"].settings(1, False))]
    assert names == ["images", "cases", "images-validation", "cases-validation", "images-test-fold", "cases-test-fold"]
