from bagwise.arguments import canonicalize_name
from bagwise.nn.pooling import Pooling
from bagwise.nn.pooling.registry import POOLINGS


def test_poolings_have_unique_names_and_classes():
    assert len({canonicalize_name(name) for name in POOLINGS}) == len(POOLINGS)
    assert len(set(POOLINGS.values())) == len(POOLINGS)
    assert all(issubclass(pooling, Pooling) for pooling in POOLINGS.values())


def test_poolings_contain_both_attentions_of_the_paper():
    assert POOLINGS["attention"].__name__ == "Attention"
    assert POOLINGS["gated attention"].__name__ == "GatedAttention"
