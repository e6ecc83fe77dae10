import pytest


def test_runs_stand_in_the_order_of_their_names(session):
    assert [(run["number"], run["name"]) for run in session.runs()] == [(0, "attention"), (1, "instances")]


def test_what_is_not_there_raises_an_index_error(session):
    n_bags = len(session.bags(0))
    size = session.bags(0)[0]["n_instances"]
    for asked in (
        lambda: session.bags(2),
        lambda: session.bag(2, 0),
        lambda: session.bag(0, n_bags),
        lambda: session.instance(0, 0, size),
    ):
        with pytest.raises(IndexError):
            asked()


def test_two_runs_show_the_same_bag_with_their_own_numbers(session):
    one, two = session.instance(0, 3, 2), session.instance(1, 3, 2)
    assert one["position"] == two["position"]
    assert one["contributions"] != two["contributions"]


def test_weights_are_seen_over_runs_of_other_seeds_alone(session):
    assert session.bag(0, 0)["n_seeds"] == 1
    assert session.bag(0, 0)["spread"] is None
    assert session.instance(0, 0, 0)["weight_over_seeds"] is None


def test_warming_opens_the_data_of_the_first_run(image_runs):
    from bagwise.viewer.opening import open_runs
    from bagwise.viewer.session import Session

    session = Session(open_runs(image_runs))
    session.warm()
    assert "_opened" in vars(session.show(0, 0).shown)
    assert "_opened" not in vars(session.show(1, 0).shown)
