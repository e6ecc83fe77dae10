import numpy as np
import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.estimators import Adjusted, BagClassifier, PooledClassifier, Selected

NEEDLES = load_dataset("needles", n_bags=30)


@pytest.mark.parametrize("kind", [Adjusted, Selected])
def test_the_estimator_inside_speaks_and_stays_as_it_was(kind):
    inside = BagClassifier(epochs=1)
    model = kind(inside, random_state=1).fit(NEEDLES, NEEDLES.labels)
    np.testing.assert_array_equal(model.weigh(NEEDLES), model.model_.weigh(NEEDLES))
    np.testing.assert_array_equal(model.score_instances(NEEDLES), model.model_.score_instances(NEEDLES))
    assert not hasattr(inside, "model_")


@pytest.mark.parametrize("kind", [Adjusted, Selected])
def test_what_the_estimator_inside_lacks_is_lacking(kind):
    assert not hasattr(kind(PooledClassifier()), "score_instances")
    with pytest.raises(InputError, match="give an estimator of bags"):
        kind("attention").fit(NEEDLES, NEEDLES.labels)
