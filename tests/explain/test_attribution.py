"""The parts of an explanation."""

from bagwise.explain.attribution import Attribution, Explanation


def test_explanation_has_the_fields_of_an_attribution():
    assert set(Attribution._fields) <= set(Explanation._fields)
    assert set(Explanation._fields) - set(Attribution._fields) == {"names", "outputs", "weights"}
