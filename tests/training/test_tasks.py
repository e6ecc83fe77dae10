import numpy as np

from bagwise.bags import Bags
from bagwise.training.tasks import Task


def test_a_task_names_what_is_learned_of_which_bags():
    bags = Bags(np.zeros((3, 2)), np.array([0, 1, 3]))
    task = Task(bags, np.array([1, 0]), np.array([0.5, 2.0]))
    assert task._fields == ("bags", "targets", "importance")
    assert len(task.bags) == len(task.targets) == len(task.importance)
