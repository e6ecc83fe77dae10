import pytest

from bagwise.errors import InputError
from bagwise.evaluation.comparison.plan import build_estimator
from bagwise.paper.protocols import DEFAULT_PROTOCOL, PROTOCOLS, apply_all_protocols, apply_protocol
from bagwise.paper.recipes import RECIPES


def test_apply_protocol_does_not_change_anything_by_default():
    settings = RECIPES["table1"].settings(1, False)
    assert apply_protocol(DEFAULT_PROTOCOL, settings) == settings
    assert not any(plan.peeking for setting in settings for plan in setting.plans)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("experiment", RECIPES)
def test_apply_protocol_makes_new_settings_with_networks_only(name, experiment):
    settings = [setting for setting in RECIPES[experiment].settings(1, False) if not setting.rows]
    changed = apply_protocol(name, settings)
    assert not {setting.name for setting in settings} & {setting.name for setting in changed}
    for before, after in zip(settings, changed, strict=True):
        assert PROTOCOLS[name].title in after.title
        assert after.comparable == before.comparable
        for plan in after.plans:
            assert "attention" in plan.methods
            assert not {"MI-SVM", "bagwise", "bagwise ensemble"} & plan.methods.keys()
            for method in plan.methods:
                model = build_estimator(plan, method)
                assert model.averaging == 0
                assert model.validation == (0.2 if name == "validation" else None)


def test_apply_protocol_peeks_at_test_bags_only_with_test_fold():
    assert [name for name, protocol in PROTOCOLS.items() if protocol.peeking] == ["test fold"]
    settings = apply_protocol("test fold", RECIPES["table1"].settings(1, True))
    assert all(plan.peeking for setting in settings for plan in setting.plans)


def test_apply_protocol_rejects_an_unknown_name():
    with pytest.raises(InputError, match="did you mean 'validation'"):
        apply_protocol("validaton", RECIPES["table1"].settings(1, True))


def test_apply_protocol_leaves_out_settings_without_networks():
    settings = [
        setting._replace(plans=[plan._replace(methods={"MI-Kernel": {}}) for plan in setting.plans])
        for setting in RECIPES["table1"].settings(1, True)
    ]
    assert apply_protocol("validation", settings) == []


def test_apply_protocol_leaves_out_settings_whose_parameters_are_the_subject():
    settings = RECIPES["table1"].settings(1, True)
    assert apply_protocol("validation", [settings[0]._replace(rows={"attention": "a row"}), settings[1]]) == (
        apply_protocol("validation", settings[1:])
    )


def test_apply_all_protocols_names_settings_by_protocol():
    names = [setting.name for setting in apply_all_protocols(RECIPES["breast"].settings(1, False))]
    assert names == ["images", "cases", "images-validation", "cases-validation", "images-test-fold", "cases-test-fold"]
