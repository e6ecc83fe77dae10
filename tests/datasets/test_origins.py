import pytest

from bagwise.datasets.origins import ORIGINS

WITHOUT_ADDRESS = {"colon-cancer", "ucsb-breast"}


@pytest.mark.parametrize("name", ORIGINS)
def test_every_set_tells_where_it_is_from_whom_to_cite_and_on_what_terms(name):
    origin = ORIGINS[name]
    assert origin.name == name
    assert origin.page
    assert origin.citation
    assert origin.terms
    assert origin.parts
    assert (origin.address is None) == (name in WITHOUT_ADDRESS)


def test_musk1_and_musk2_are_swapped_at_their_public_address():
    assert ORIGINS["musk1"].address.endswith("/musk2.mat")
    assert ORIGINS["musk2"].address.endswith("/musk1.mat")
