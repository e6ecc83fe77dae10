"""Numbers as words: what is close to nothing or to all is not written as such."""

from bagwise.report.words import interval, number, share


def test_what_is_close_to_nothing_or_all_is_not_written_as_such():
    assert [share(value) for value in (0.0, 1e-9, 0.0005, 0.5, 0.99951, 1.0)] == [
        "0",
        "<0.001",
        "0.001",
        "0.500",
        ">0.999",
        "1",
    ]
    assert share(0.004, 2) == "<0.01"
    assert (number(None), interval(None)) == ("n/a", "n/a")
