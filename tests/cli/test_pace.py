import pytest

from bagwise.cli.pace import Pace


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_nothing_is_known_before_one_is_done_and_nothing_is_left_at_the_end(clock):
    pace = Pace(clock)
    assert pace.left() is None
    pace.hear(3, 5)
    clock.now += 10
    assert pace.left() is None
    assert "-:--:--" in pace.__rich__()
    pace.hear(5, 5)
    assert pace.left() == 0.0


def test_what_was_done_before_the_beginning_does_not_count(clock):
    pace = Pace(clock)
    pace.hear(90, 100)
    clock.now += 60
    pace.hear(91, 100)
    assert pace.left() == 9 * 60
    assert "0:09:00" in pace.__rich__()


def test_bursts_of_several_processes_do_not_hurry_it(clock):
    pace = Pace(clock)
    pace.hear(0, 10)
    clock.now += 600
    pace.hear(1, 10)
    clock.now += 1
    pace.hear(2, 10)
    assert pace.left() == pytest.approx(8 * 601 / 2)


def test_it_counts_down_until_the_next_is_done(clock):
    pace = Pace(clock)
    pace.hear(0, 4)
    clock.now += 100
    pace.hear(1, 4)
    clock.now += 40
    assert pace.left() == 3 * 100 - 40


def test_one_that_is_late_makes_it_longer_and_the_last_ends_at_zero(clock):
    pace = Pace(clock)
    pace.hear(0, 3)
    clock.now += 10
    pace.hear(1, 3)
    clock.now += 190
    assert pace.left() == 200 / 2 * 1
    pace.hear(2, 3)
    clock.now += 1000
    assert pace.left() == 0.0
