import pytest

from bagwise.augmentation.building import fitting
from bagwise.comparing.plan import build
from bagwise.estimators import Ensemble, Selected
from bagwise.paper.recipes import RECIPES


@pytest.mark.parametrize("name", ["colon", "breast"])
def test_the_network_is_that_of_the_appendix_and_mi_svm_the_seventh_row(name):
    plan = RECIPES[name].settings(5, False)[0].plans[0]
    assert (plan.folds, plan.repeats, len(plan.methods)) == (10, 5, 8)
    model = build(plan, "gated attention")
    assert (model.encoder, model.learning_rate, model.weight_decay) == ("nucleus cnn", 1e-4, 5e-4)
    assert (model.attention_width, model.epochs) == (128, 100)
    assert isinstance(build(plan, "MI-SVM"), Selected)


@pytest.mark.parametrize("name", ["colon", "breast"])
def test_the_ensemble_differs_from_gated_attention_in_its_number_alone(name):
    plan = RECIPES[name].settings(5, False)[0].plans[0]
    ensemble = build(plan, "bagwise ensemble")
    assert isinstance(ensemble, Ensemble)
    assert ensemble.n == 3
    alone, inside = build(plan, "gated attention").get_params(), ensemble.estimator.get_params()
    differing = {word: (alone[word], inside[word]) for word in alone if alone[word] != inside[word]}
    assert differing == {"augmentation": ("histology", "auto")}
    assert fitting((27, 27, 3)) == "histology", "which is what auto stands for here"
    assert "bagwise ensemble" not in RECIPES[name].settings(1, True)[0].plans[0].methods


def test_breast_has_the_papers_folds_and_those_by_case_apart():
    images, cases = RECIPES["breast"].settings(1, False)
    assert (images.plans[0].grouped, cases.plans[0].grouped) == (False, True)
    assert images.title == ""
    assert cases.title
