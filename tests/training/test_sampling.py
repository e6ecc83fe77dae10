import numpy as np

from bagwise.bags import Bags
from bagwise.datasets import load_dataset
from bagwise.estimators import BagClassifier
from bagwise.training.sampling import draw_instances


def numbered(sizes):
    """Bags whose instances are their own row numbers."""
    return Bags(np.arange(sum(sizes), dtype=float)[:, None], np.cumsum([0, *sizes]))


def drawn(bags, bag, step, most=5, seed=1):
    return draw_instances(bags, np.array([bag]), most, seed, step).instances.ravel()


def test_rows_are_those_of_their_bag_each_at_most_once_in_order():
    bags = numbered([3, 40, 6])
    part = draw_instances(bags, np.array([2, 0, 1]), most=5, seed=1, step=7)
    assert part.sizes.tolist() == [5, 3, 5]
    for place, bag in enumerate([2, 0, 1]):
        rows = part[place].ravel()
        assert (np.diff(rows) > 0).all()
        assert set(rows) <= set(bags[bag].ravel())


def test_a_draw_is_a_function_of_seed_step_and_bag():
    bags = numbered([40, 40])
    assert (drawn(bags, 0, 3) == drawn(bags, 0, 3)).all()
    with_others = draw_instances(bags, np.array([1, 0]), 5, 1, 3)[1].ravel()
    assert (with_others == drawn(bags, 0, 3)).all()
    others = [drawn(bags, 0, 4), drawn(bags, 1, 3) - 40, drawn(bags, 0, 3, seed=2)]
    assert all((other != drawn(bags, 0, 3)).any() for other in others)


def test_over_many_steps_every_instance_is_seen_alike():
    bags = numbered([20])
    seen = np.bincount(np.concatenate([drawn(bags, 0, step) for step in range(4000)]).astype(int), minlength=20)
    np.testing.assert_allclose(seen / 1000, 1.0, atol=0.11)  # four deviations of a binomial share


def test_training_by_all_instances_is_training_without_it():
    bags = load_dataset("needles", n_bags=20)
    one, other, fewer = (
        BagClassifier(epochs=2, random_state=0, most_instances=most).fit(bags, bags.labels).predict_proba(bags)
        for most in (None, int(bags.sizes.max()), 2)
    )
    assert (one == other).all()
    assert (one != fewer).any()
