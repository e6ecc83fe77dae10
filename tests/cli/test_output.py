import json

from bagwise.cli.output import Output

METRICS = {
    "n_bags": 3,
    "n_instances": 9,
    "bags": {
        "auc": {"value": None, "interval": None},
        "accuracy": {"value": 2 / 3, "interval": (0.25, 1.0)},
    },
    "instances": {"weights": {"auc": 0.5, "average_precision": 0.25, "top_1": None, "n_bags": 2}},
}


def test_metrics_show_intervals_and_say_what_is_not_defined(capsys):
    Output(quiet=False, as_json=False).metrics(METRICS)
    shown = capsys.readouterr().out
    assert "0.667" in shown
    assert "0.250 – 1.000" in shown
    assert "n/a" in shown
    assert "key instances, 2 bags" in " ".join(shown.split())


def test_quiet_says_nothing_and_json_only_the_result(capsys):
    for output in (Output(quiet=True, as_json=False), Output(quiet=False, as_json=True)):
        output.say("words")
        output.metrics(METRICS)
        output.result({"name": "ü"})
    assert json.loads(capsys.readouterr().out) == {"name": "ü"}


def test_names_are_never_taken_for_markup(capsys):
    Output(quiet=False, as_json=False).table("title", [("[red]name[/red]", "[bold]")])
    assert "[red]name[/red]" in capsys.readouterr().out


def test_the_bar_shows_what_is_done_and_the_time_left(capsys):
    with Output(quiet=False, as_json=False).progress("fits") as move:
        move(2, 4)
        move(3, 4)
        move(4, 4)
    assert tuple(word for word in capsys.readouterr().out.split() if "━" not in word) == ("fits", "4/4", "0:00:00")
