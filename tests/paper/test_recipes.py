import pytest

from bagwise.estimators.classical import hyperplanes
from bagwise.estimators.meta.committee import make_default_members
from bagwise.estimators.meta.ensemble import Ensemble
from bagwise.estimators.meta.selected import Selected
from bagwise.evaluation.comparison.plan import build_estimator
from bagwise.nn.augmentation import choose_augmentation
from bagwise.paper.published import read_published
from bagwise.paper.recipes import MAX_EXACT_DIGITS, RECIPES

MNIST_SETTINGS = RECIPES["mnist-bags"].settings(1, False)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("quick", [False, True])
def test_settings_have_every_published_method(name, quick):
    for setting in RECIPES[name].settings(2, quick):
        if setting.comparable:
            published = {method for method, column in read_published(setting.table) if setting.column in (None, column)}
            assert published
            assert all(published <= plan.methods.keys() for plan in setting.plans)


@pytest.mark.parametrize("name", RECIPES)
def test_settings_cover_every_published_column(name):
    covered = {(setting.table, setting.column) for setting in RECIPES[name].settings(2, False) if setting.comparable}
    columns = {(table, column) for table in {table for table, _ in covered} for _, column in read_published(table)}
    assert all({(table, column), (table, None)} & covered for table, column in columns)


@pytest.mark.parametrize("name", RECIPES)
def test_settings_have_unique_names(name):
    names = [setting.name for setting in RECIPES[name].settings(1, False)]
    assert len(set(names)) == len(names)


def test_make_table1_settings_use_the_optimiser_of_the_appendix():
    plans = {setting.name: setting.plans[0] for setting in RECIPES["table1"].settings(5, False)}
    assert (plans["musk2"].folds, plans["musk2"].repeats) == (10, 5)
    model = build_estimator(plans["musk2"], "attention")
    assert (model.optimizer, model.momentum, model.learning_rate, model.weight_decay) == ("sgd", 0.9, 5e-4, 0.03)
    assert (model.epochs, model.attention_width, model.validation) == (100, 64, None)
    assert isinstance(build_estimator(plans["musk2"], "MI-SVM"), Selected)


def describe_free_parameters(estimator):
    """Describe an estimator without what a grid replaces, and without its calibration: members need none."""
    replaced = [f"estimator__{name}" for name in (estimator.grid if isinstance(estimator, Selected) else ())]
    parameters = estimator.get_params()
    ignored = {name for name in parameters if name in replaced or name.split("__")[-1] in ("calibration", "estimator")}
    return repr({name: value for name, value in parameters.items() if name not in ignored})


def test_make_table1_settings_include_the_members_of_the_committee():
    plan = RECIPES["table1"].settings(1, False)[0].plans[0]
    members = make_default_members()
    assert {name: describe_free_parameters(member) for name, member in members.items()} == {
        name: describe_free_parameters(build_estimator(plan, name)) for name in members
    }
    assert plan.data == "musk1"
    assert plan.methods["committee"] == {}


def test_make_table1_settings_leave_out_meta_estimators_in_the_quick_version():
    whole, quick = ({*RECIPES["table1"].settings(1, quick)[0].plans[0].methods} for quick in (False, True))
    assert whole - quick == {"super learner", "committee"}
    assert not quick - whole


def test_make_mnist_settings_sample_new_bags_in_every_repeat():
    settings = {setting.name: setting for setting in RECIPES["mnist-bags"].settings(3, False)}
    assert len(settings) == 21
    plans = settings["size-50-bags-150"].plans
    assert [plan.options["seed"] for plan in plans] == [0, 1, 2]
    assert {(plan.options["mean_size"], plan.options["n_bags"]) for plan in plans} == {(50, 150)}
    svm = build_estimator(plans[0], "MI-SVM")
    assert (svm.C, svm.gamma, svm.max_iterations) == (5.0, 0.0005, 200)


@pytest.mark.parametrize("setting", MNIST_SETTINGS, ids=[setting.name for setting in MNIST_SETTINGS])
def test_make_mnist_settings_approximate_kernels_that_are_too_large(setting):
    plan = setting.plans[0]
    n_digits = plan.options["mean_size"] * plan.options["n_bags"]
    assert (build_estimator(plan, "MI-SVM").components is None) == (n_digits <= MAX_EXACT_DIGITS)


def test_make_mnist_settings_use_exact_kernels_within_the_limit_of_mi_svm():
    assert MAX_EXACT_DIGITS < 0.9 * hyperplanes.MAX_EXACT_ROWS


@pytest.mark.parametrize("name", ["colon", "breast"])
def test_make_tissue_settings_use_the_network_of_the_appendix_and_mi_svm(name):
    plan = RECIPES[name].settings(5, False)[0].plans[0]
    assert (plan.folds, plan.repeats, len(plan.methods)) == (10, 5, 8)
    model = build_estimator(plan, "gated attention")
    assert (model.encoder, model.learning_rate, model.weight_decay) == ("nucleus cnn", 1e-4, 5e-4)
    assert (model.attention_width, model.epochs) == (128, 100)
    assert isinstance(build_estimator(plan, "MI-SVM"), Selected)


@pytest.mark.parametrize("name", ["colon", "breast"])
def test_make_tissue_settings_ensemble_has_three_networks_with_gated_attention(name):
    plan = RECIPES[name].settings(5, False)[0].plans[0]
    ensemble = build_estimator(plan, "bagwise ensemble")
    assert isinstance(ensemble, Ensemble)
    assert ensemble.n == 3
    single, member = build_estimator(plan, "gated attention").get_params(), ensemble.estimator.get_params()
    differing = {key: (single[key], member[key]) for key in single if single[key] != member[key]}
    assert differing == {"augmentation": ("histology", "auto")}
    assert choose_augmentation((27, 27, 3)) == "histology", "auto selects histology for these images"
    assert "bagwise ensemble" not in RECIPES[name].settings(1, True)[0].plans[0].methods


def test_make_breast_settings_have_folds_by_image_and_by_case():
    images, cases = RECIPES["breast"].settings(1, False)
    assert (images.plans[0].grouped, cases.plans[0].grouped) == (False, True)
    assert images.title == ""
    assert cases.title


def test_make_claim_settings_have_one_column_per_width():
    settings = RECIPES["claims"].settings(2, False)
    assert [setting.column for setting in settings] == ["64", "128", "256"] * 2
    assert len({setting.table for setting in settings}) == 2
    for setting in settings:
        for plan in setting.plans:
            assert {build_estimator(plan, method).attention_width for method in plan.methods} == {int(setting.column)}
            assert plan.methods.keys() == {"attention", "gated attention", "embedding+mean"}


def test_make_claim_settings_sample_digits_anew_and_repeat_folds():
    digits, *_, musk = RECIPES["claims"].settings(3, False)
    assert [plan.options["seed"] for plan in digits.plans] == [0, 1, 2]
    assert [plan.repeats for plan in musk.plans] == [3]
