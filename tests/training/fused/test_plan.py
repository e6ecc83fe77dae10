import numpy as np

from bagwise.training.fused.layout import Layout
from bagwise.training.fused.plan import room
from bagwise.training.fused.reach import take_apart
from bagwise.training.fused.stages import LANES
from fused_problems import problem


def test_room_is_made_for_the_given_rows_and_bags():
    given = problem(connections="deep supervision", encoder="mlp", pooling="attention")
    plan = Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (5,)).plan
    made = room(plan, 5, n_rows=20, n_bags=3, n_weights=100, dtype=np.float32)
    assert made.rows.shape == (20, 5)
    assert made.pooled.shape == (3, 256 + 128 + 64)
    assert made.scores.shape == (3, 3)
    assert made.hidden.size == made.members.size == 20 * (256 + 128 + 64)
    assert made.gradient.size == 256, "the widest row of weights"
    assert plan.stages == made.stages == (), "there are no convolutions"


def test_a_vector_may_end_behind_the_last_image():
    given = problem(encoder="two stages")
    plan = Layout(take_apart(given.model, given.likelihood), given.model, given.likelihood, (3, 12, 13)).plan
    made = room(plan, 468, n_rows=4, n_bags=1, n_weights=100, dtype=np.float64)
    assert made.rows.shape == (4, 468)
    assert made.rows.flags.c_contiguous
    assert made.rows.base.size >= 4 * 468 + LANES
