"""What every pooling promises."""

import pytest
import torch

from bagwise.errors import InputError
from bagwise.likelihoods import Bernoulli, Categorical
from bagwise.pooling import ISR, POOLINGS, NoisyAnd, NoisyOr, Pooling, Settings
from bagwise.pooling.contract import averaged, uniform


def test_the_base_cannot_be_used_by_itself():
    with pytest.raises(TypeError, match="abstract"):
        Pooling()


def test_uniform_weights_are_one_over_the_size_of_the_bag():
    weights = uniform(torch.zeros(6, 3, dtype=torch.float64), torch.tensor([0, 1, 3, 6]))
    expected = torch.tensor([1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3], dtype=torch.float64)
    torch.testing.assert_close(weights, expected[:, None])


def test_averaged_weights_are_the_mean_over_the_columns():
    weights = torch.tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    torch.testing.assert_close(averaged(weights), torch.tensor([[0.5], [0.5]]))


@pytest.mark.parametrize("pooling", [ISR(), NoisyOr(), NoisyAnd()])
def test_poolings_of_probabilities_refuse_embeddings_with_the_reason(pooling):
    message = (
        f"{pooling.title} combines probabilities, and embeddings are none: use level='instance' or another pooling"
    )
    with pytest.raises(InputError, match=message):
        pooling.check("embedding", Bernoulli())


@pytest.mark.parametrize("pooling", [ISR(), NoisyOr(), NoisyAnd()])
def test_poolings_of_probabilities_refuse_many_classes_with_the_reason(pooling):
    message = (
        f"{pooling.title} combines probabilities of one positive class.* with the categorical likelihood use max, mean"
    )
    with pytest.raises(InputError, match=message):
        pooling.check("instance", Categorical(3))
    pooling.check("instance", Bernoulli())


@pytest.mark.parametrize("name", POOLINGS)
def test_a_title_is_the_name_in_the_table(name):
    assert POOLINGS[name].title.lower() == name


@pytest.mark.parametrize("name", POOLINGS)
@pytest.mark.parametrize("width", [1, 4])
def test_a_bag_of_one_instance_has_a_weight_of_exactly_one(name, width):
    settings = Settings(attention_width=3, heads=2)
    for pooling in (
        POOLINGS[name].for_embeddings(width, settings),
        POOLINGS[name].for_scores(width, Bernoulli() if width == 1 else Categorical(width), settings),
    ):
        for dtype in (torch.float32, torch.float64):
            weights = pooling.to(dtype)(torch.randn(3, width, dtype=dtype) * 20, torch.arange(4)).weights
            assert (weights == 1.0).all()
            assert (pooling(torch.randn(1, width, dtype=dtype), torch.tensor([0, 1])).weights == 1.0).all()


@pytest.mark.parametrize("name", POOLINGS)
def test_the_pooled_width_is_as_announced(name):
    pooling = POOLINGS[name].for_embeddings(4, Settings(attention_width=3, heads=2))
    values = torch.randn(5, 4)
    pooled = pooling(values, torch.tensor([0, 2, 5])).values
    assert pooled.shape == (2, pooling.pooled_width(4))
