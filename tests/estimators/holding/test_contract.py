import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import MISVM, Adjusted, BagClassifier, Committee, Ensemble, PooledClassifier, Selected

NEEDLES = load_dataset("needles", n_bags=20)
HOLDERS = [Adjusted, Ensemble, Selected]


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_must_be_an_estimator_of_bags(holder):
    with pytest.raises(InputError, match=r"estimator is 'svm' \(str\)"):
        holder("svm").fit(NEEDLES, NEEDLES.labels)


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_holder_can_what_it_holds_can(holder):
    assert holder(BagClassifier()).__sklearn_tags__().classifier_tags.multi_class
    assert not holder(MISVM()).__sklearn_tags__().classifier_tags.multi_class
    assert hasattr(holder(MISVM()), "score_instances")


def test_a_holder_of_several_can_what_all_of_them_can():
    both = Committee({"trees": PooledClassifier(), "machine": MISVM()})
    assert not both.__sklearn_tags__().classifier_tags.multi_class
    assert not hasattr(both, "score_instances")
    assert hasattr(Committee({"network": BagClassifier(), "machine": MISVM()}), "score_instances")
