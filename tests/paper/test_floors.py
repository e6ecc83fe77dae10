import pytest

from bagwise.paper.floors import Bound, Floor, check_floors, make_floor_rows, render_floors

LOSS = Floor("loss", measure=lambda means: means["new", "loss"], bound=Bound(0.5))
GAIN = Floor(
    "loss above old",
    lambda means: means["new", "loss"] - means["old", "loss"],
    Bound(0.1),
    mean_bound=Bound(0.0, strict=True),
)
LARGE = Floor("large", lambda means: means["new", "loss"], Bound(0.0), applies=lambda means, n_bags: n_bags > 200)
MEANS = {
    "a": {("new", "loss"): 0.4, ("old", "loss"): 0.5},
    "b": {("new", "loss"): 0.75, ("old", "loss"): 0.5},
    "c": {("new", "loss"): 0.4},
}


def check(floors, n_bags):
    return {(found.data, found.floor): found for found in check_floors(floors, MEANS, n_bags)}


@pytest.mark.parametrize(
    ("bound", "value", "met"),
    [(Bound(0.5), 0.5, True), (Bound(0.5, strict=True), 0.5, False), (Bound(0.5), 0.6, False), (Bound(0.5), -1, True)],
)
def test_bound_is_met_up_to_the_limit(bound, value, met):
    assert bound.is_met(value) is met


def test_check_floors_checks_each_data_set():
    found = check([LOSS], {"a": 50, "b": 60})
    assert [(each.value, each.met) for each in found.values()] == [(0.4, True), (0.75, False)]


def test_check_floors_checks_the_mean_over_data_sets():
    found = check([LOSS, GAIN], {"a": 50, "b": 60})
    mean = found["mean", "loss above old"]
    assert mean.value == pytest.approx(0.075)
    assert (mean.met, mean.bound, mean.n_bags) == (False, "< 0", None)
    assert ("mean", "loss") not in found


@pytest.mark.parametrize(("n_bags", "checked"), [(39, False), (40, True), (600, True), (601, False)])
def test_check_floors_leaves_out_unusual_sizes(n_bags, checked):
    assert bool(check([LOSS], {"a": n_bags})) is checked


def test_check_floors_skips_floors_that_do_not_apply_or_lack_results():
    assert check([LARGE], {"a": 200}) == {}
    assert check([LARGE], {"a": 201})["a", "large"].met is False
    assert check([GAIN], {"c": 50}) == {}
    assert check([GAIN], {"unknown": 50}) == {}


def test_render_floors_has_a_row_per_data_set_and_marks_what_is_not_met():
    lines = render_floors(check_floors([LOSS, GAIN], MEANS, {"a": 50, "b": 60})).splitlines()
    assert lines[0] == "| data | bags | loss | loss above old |"
    assert lines[2:] == [
        "| a | 50 | 0.400 ≤ 0.5: met | −0.100 ≤ 0.1: met |",
        "| b | 60 | **0.750 ≤ 0.5: not met** | **0.250 ≤ 0.1: not met** |",
        "| mean |  |  | **0.075 < 0: not met** |",
    ]


def test_make_floor_rows_has_all_parts_of_a_check():
    (row,) = make_floor_rows(check_floors([LOSS], MEANS, {"a": 50}))
    assert row == {"data": "a", "n_bags": 50, "floor": "loss", "value": 0.4, "bound": "≤ 0.5", "met": True}
