import json

import pytest

from bagwise.cli.output import Output, RemainingTime
from bagwise.targets.classes import ClassTarget


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_remaining_time_is_unknown_at_first_and_zero_at_the_end(clock):
    remaining = RemainingTime(clock)
    assert remaining.seconds() is None
    remaining.update(3, 5)
    clock.now += 10
    assert remaining.seconds() is None
    assert "-:--:--" in remaining.__rich__()
    remaining.update(5, 5)
    assert remaining.seconds() == 0.0


def test_remaining_time_ignores_work_done_before_the_start(clock):
    remaining = RemainingTime(clock)
    remaining.update(90, 100)
    clock.now += 60
    remaining.update(91, 100)
    assert remaining.seconds() == 9 * 60
    assert "0:09:00" in remaining.__rich__()


def test_remaining_time_is_stable_under_bursts(clock):
    remaining = RemainingTime(clock)
    remaining.update(0, 10)
    clock.now += 600
    remaining.update(1, 10)
    clock.now += 1
    remaining.update(2, 10)
    assert remaining.seconds() == pytest.approx(8 * 601 / 2)


def test_remaining_time_counts_down_between_updates(clock):
    remaining = RemainingTime(clock)
    remaining.update(0, 4)
    clock.now += 100
    remaining.update(1, 4)
    clock.now += 40
    assert remaining.seconds() == 3 * 100 - 40


def test_remaining_time_grows_when_a_unit_is_late(clock):
    remaining = RemainingTime(clock)
    remaining.update(0, 3)
    clock.now += 10
    remaining.update(1, 3)
    clock.now += 190
    assert remaining.seconds() == 200 / 2 * 1
    remaining.update(2, 3)
    clock.now += 1000
    assert remaining.seconds() == 0.0


METRICS = {
    "n_bags": 3,
    "n_instances": 9,
    "bags": {
        "auc": {"value": None, "interval": None},
        "accuracy": {"value": 2 / 3, "interval": (0.25, 1.0)},
    },
    "instances": {"weights": {"auc": 0.5, "average_precision": 0.25, "top_1": None, "n_bags": 2}},
}


def test_print_metrics_shows_intervals_and_undefined_values(capsys):
    Output(quiet=False, as_json=False).print_metrics(METRICS, ClassTarget.unnamed(2))
    shown = capsys.readouterr().out
    assert "0.667" in shown
    assert "0.250 – 1.000" in shown
    assert "n/a" in shown
    assert "key instances, mean over 2 bags unless pooled" in " ".join(shown.split())


def test_print_screening_sorts_by_weight_and_prints_how_to_repeat_it(capsys):
    target = ClassTarget.unnamed(2)
    numbers = dict.fromkeys(target.main_metrics, 0.5)
    rows = [{"method": "mi-Graph", "weight": 0.2, **numbers}, {"method": "extra trees", "weight": 0.8, **numbers}]
    output = Output(quiet=False, as_json=False)
    output.print_screening(rows, target)
    text = capsys.readouterr().out
    assert text.index("extra trees") < text.index("mi-Graph")
    assert "--screen 'mi-Graph,extra trees'" in text
    assert max(map(len, text.splitlines()[:-1])) <= 80
    output.print_screening([], target)
    assert capsys.readouterr().out == ""


def test_output_quiet_prints_nothing_and_json_only_the_result(capsys):
    for output in (Output(quiet=True, as_json=False), Output(quiet=False, as_json=True)):
        output.print("words")
        output.print_metrics(METRICS, ClassTarget.unnamed(2))
        output.print_result({"name": "ü"})
    assert json.loads(capsys.readouterr().out) == {"name": "ü"}


def test_print_table_never_interprets_names_as_markup(capsys):
    Output(quiet=False, as_json=False).print_table("title", [("[red]name[/red]", "[bold]")])
    assert "[red]name[/red]" in capsys.readouterr().out


def test_show_progress_shows_count_and_remaining_time(capsys):
    with Output(quiet=False, as_json=False).show_progress("fits") as move:
        move(2, 4)
        move(3, 4)
        move(4, 4)
    assert tuple(word for word in capsys.readouterr().out.split() if "━" not in word) == ("fits", "4/4", "0:00:00")
