"""Tests of the interface of poolings."""

import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.pooling.base import Pooling, PoolingSettings, average_heads, make_uniform_weights
from bagwise.nn.pooling.probability import ISR, NoisyAnd, NoisyOr
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.targets.class_likelihoods import Bernoulli, Categorical

every_probability_pooling = pytest.mark.parametrize("pooling", [ISR(), NoisyOr(), NoisyAnd()])


def test_pooling_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Pooling()


@pytest.mark.parametrize("name", POOLINGS)
def test_title_of_a_pooling_is_its_name_in_the_registry(name):
    assert POOLINGS[name].title.lower() == name


@pytest.mark.parametrize("name", POOLINGS)
def test_pooled_width_equals_the_number_of_pooled_columns(name):
    pooling = POOLINGS[name].for_embeddings(4, PoolingSettings(attention_width=3, heads=2))
    values = torch.randn(5, 4)
    pooled = pooling(values, torch.tensor([0, 2, 5])).values
    assert pooled.shape == (2, pooling.pooled_width(4))


@pytest.mark.parametrize("name", POOLINGS)
@pytest.mark.parametrize("width", [1, 4])
def test_forward_gives_a_single_instance_a_weight_of_exactly_one(name, width):
    settings = PoolingSettings(attention_width=3, heads=2)
    for pooling in (
        POOLINGS[name].for_embeddings(width, settings),
        POOLINGS[name].for_scores(width, Bernoulli() if width == 1 else Categorical(width), settings),
    ):
        for dtype in (torch.float32, torch.float64):
            weights = pooling.to(dtype)(torch.randn(3, width, dtype=dtype) * 20, torch.arange(4)).weights
            assert (weights == 1.0).all()
            assert (pooling(torch.randn(1, width, dtype=dtype), torch.tensor([0, 1])).weights == 1.0).all()


@every_probability_pooling
def test_check_of_a_probability_pooling_rejects_embedding_level(pooling):
    message = (
        f"pooling '{pooling.title}' combines probabilities of instances.* at embedding level; use level='instance'"
    )
    with pytest.raises(InputError, match=message):
        pooling.check("embedding", Bernoulli())


@every_probability_pooling
def test_check_of_a_probability_pooling_accepts_two_classes_only(pooling):
    message = (
        f"pooling '{pooling.title}' combines .* one positive class.* with the categorical likelihood use max, mean"
    )
    with pytest.raises(InputError, match=message):
        pooling.check("instance", Categorical(3))
    pooling.check("instance", Bernoulli())


def test_make_uniform_weights_is_one_over_the_size_of_the_bag():
    weights = make_uniform_weights(torch.zeros(6, 3, dtype=torch.float64), torch.tensor([0, 1, 3, 6]))
    expected = torch.tensor([1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3], dtype=torch.float64)
    torch.testing.assert_close(weights, expected[:, None])


def test_average_heads_is_the_mean_over_the_columns():
    weights = torch.tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    torch.testing.assert_close(average_heads(weights), torch.tensor([[0.5], [0.5]]))
