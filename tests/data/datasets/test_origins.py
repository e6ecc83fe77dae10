import pytest

from bagwise.data.datasets.origins import ORIGINS

WITHOUT_ADDRESS = {"colon-cancer", "ucsb-breast"}


@pytest.mark.parametrize("name", ORIGINS)
def test_origins_have_a_page_a_citation_and_terms(name):
    origin = ORIGINS[name]
    assert origin.name == name
    assert origin.page
    assert origin.citation
    assert origin.terms
    assert origin.parts
    assert (origin.address is None) == (name in WITHOUT_ADDRESS)


def test_origins_swap_musk1_and_musk2_at_their_public_address():
    assert ORIGINS["musk1"].address.endswith("/musk2.mat")
    assert ORIGINS["musk2"].address.endswith("/musk1.mat")
