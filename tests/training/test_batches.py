import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.training.batches import TrainingTask, array_to_tensor, bags_to_tensors, group_by_rows, sample_instances


def test_training_task_has_one_target_and_importance_per_bag():
    bags = Bags(np.zeros((3, 2)), np.array([0, 1, 3]))
    task = TrainingTask(bags, np.array([1, 0]), np.array([0.5, 2.0]))
    assert task._fields == ("bags", "targets", "importance")
    assert len(task.bags) == len(task.targets) == len(task.importance)


def test_bags_to_tensors_keeps_the_dtype():
    bags = Bags.from_list([np.zeros((2, 8, 8), dtype=np.uint8), np.ones((1, 8, 8), dtype=np.uint8)])
    instances, offsets = bags_to_tensors(bags, torch.device("cpu"))
    assert instances.dtype == torch.uint8
    assert offsets.tolist() == [0, 2, 3]


def test_array_to_tensor_shares_the_memory_of_a_read_only_array():
    array = np.arange(6.0).reshape(3, 2)
    read_only = array.view()
    read_only.flags.writeable = False
    tensor = array_to_tensor(read_only)
    array[0, 0] = 9.0
    assert tensor[0, 0] == 9.0


def test_array_to_tensor_keeps_the_memory_alive():
    tensor = array_to_tensor(np.full((1000, 1000), 3.0))
    assert float(tensor.sum()) == 3_000_000.0


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(1, 25))
def test_group_by_rows_covers_all_bags_in_order_and_limits_the_rows(sizes, max_rows):
    slices = list(group_by_rows(np.array(sizes), max_rows))
    assert [bag for part in slices for bag in range(part.start, part.stop)] == list(range(len(sizes)))
    for part in slices:
        assert sum(sizes[part]) <= max_rows or part.stop - part.start == 1


def bags_of_row_numbers(sizes):
    """Return bags whose instances are their row numbers."""
    return Bags(np.arange(sum(sizes), dtype=float)[:, None], np.cumsum([0, *sizes]))


def sample_bag(bags, bag, step, max_instances=5, seed=1):
    return sample_instances(bags, np.array([bag]), max_instances, seed, step).instances.ravel()


def test_sample_instances_returns_rows_of_each_bag_at_most_once_and_in_order():
    bags = bags_of_row_numbers([3, 40, 6])
    sample = sample_instances(bags, np.array([2, 0, 1]), max_instances=5, seed=1, step=7)
    assert sample.sizes.tolist() == [5, 3, 5]
    assert sample.names.tolist() == ["2", "0", "1"]
    for number, bag in enumerate([2, 0, 1]):
        rows = sample[number].ravel()
        assert (np.diff(rows) > 0).all()
        assert set(rows) <= set(bags[bag].ravel())


def test_sample_instances_is_a_function_of_seed_step_and_bag():
    bags = bags_of_row_numbers([40, 40])
    first = sample_bag(bags, 0, 3)
    assert (sample_bag(bags, 0, 3) == first).all()
    with_another_bag = sample_instances(bags, np.array([1, 0]), 5, 1, 3)[1].ravel()
    assert (with_another_bag == first).all()
    others = [sample_bag(bags, 0, 4), sample_bag(bags, 1, 3) - 40, sample_bag(bags, 0, 3, seed=2)]
    assert all((other != first).any() for other in others)


def test_sample_instances_samples_every_instance_equally_often():
    bags = bags_of_row_numbers([20])
    counts = np.bincount(np.concatenate([sample_bag(bags, 0, step) for step in range(4000)]).astype(int), minlength=20)
    np.testing.assert_allclose(counts / 1000, 1.0, atol=0.11)  # four standard deviations of a binomial share


def test_sample_instances_of_whole_bags_trains_as_without_sampling():
    bags = load_dataset("needles", n_bags=20)
    unlimited, all_instances, two = (
        BagClassifier(epochs=2, random_state=0, most_instances=limit).fit(bags, bags.labels).predict_proba(bags)
        for limit in (None, int(bags.sizes.max()), 2)
    )
    assert (unlimited == all_instances).all()
    assert (unlimited != two).any()


def test_group_by_rows_fills_a_group_to_the_limit():
    assert list(group_by_rows(np.array([2, 2, 1]), max_rows=4)) == [slice(0, 2), slice(2, 3)]
