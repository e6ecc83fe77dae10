from bagwise.paper.fits import draws_of


def test_draws_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 0):
        (tmp_path / f"draw-{number}").mkdir()
    assert [path.name for path in draws_of(tmp_path)] == ["draw-0", "draw-2", "draw-10"]
