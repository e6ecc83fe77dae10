"""Properties of every pooling at every level and for every likelihood, tested in a whole model."""

import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.pooling.registry import POOLINGS
from sensible_models import ALL, LIKELIHOODS, SENSIBLE, every, model_of

SIZES = [3, 1, 5, 2]
OFFSETS = torch.tensor([0, 3, 4, 9, 11])


def instances_of(scale=1.0):
    return torch.randn(11, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) * scale


def shuffle_within_bags(seed):
    generator = torch.Generator().manual_seed(seed)
    starts = OFFSETS[:-1].tolist()
    return torch.cat(
        [start + torch.randperm(size, generator=generator) for start, size in zip(starts, SIZES, strict=True)]
    )


@every
@pytest.mark.parametrize("heads", [pytest.param(1, marks=pytest.mark.full), 2])
def test_pooling_does_not_depend_on_the_order_of_instances_within_a_bag(case, heads):
    model, instances = model_of(case, heads).double().eval(), instances_of()
    before = model(instances, OFFSETS)
    for seed in range(3):
        order = shuffle_within_bags(seed)
        after = model(instances[order], OFFSETS)
        torch.testing.assert_close(after.scores, before.scores, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(after.weights, before.weights[order], rtol=1e-12, atol=1e-12)


@every
@pytest.mark.parametrize("heads", [1, pytest.param(2, marks=pytest.mark.full)])
def test_pooling_of_packed_bags_equals_pooling_of_each_bag(case, heads):
    model, instances = model_of(case, heads).double().eval(), instances_of()
    packed = model(instances, OFFSETS)
    single = [model(bag, torch.tensor([0, len(bag)])) for bag in instances.split(SIZES)]
    torch.testing.assert_close(packed.scores, torch.cat([each.scores for each in single]), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(packed.weights, torch.cat([each.weights for each in single]), rtol=1e-12, atol=1e-12)


@every
@pytest.mark.parametrize("heads", [pytest.param(1, marks=pytest.mark.full), 2])
def test_pooling_weights_are_not_negative_and_sum_to_one_within_each_bag(case, heads):
    weights = model_of(case, heads).double().eval()(instances_of(3.0), OFFSETS).weights
    assert (weights >= 0).all()
    for bag in weights.split(SIZES):
        torch.testing.assert_close(bag.sum(0), torch.ones_like(bag[0]), rtol=0, atol=1e-12)
    assert (weights[3] == 1.0).all()


@every
def test_pooling_gradients_through_the_whole_model_agree_with_finite_differences(case):
    model, instances = model_of(case).double().eval(), instances_of().requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: tuple(model(rows, OFFSETS)), instances)


@every
@pytest.mark.parametrize("bags", ["one", "several"])
def test_pooling_gradients_of_values_and_parameters_agree_with_finite_differences(case, bags):
    name, level, likelihood = case
    classes = LIKELIHOODS[likelihood]
    settings = PoolingSettings(attention_width=3, heads=2)
    width = 4 if level == "embedding" else classes.n_scores
    pooling = (
        POOLINGS[name].for_embeddings(width, settings)
        if level == "embedding"
        else POOLINGS[name].for_scores(width, classes, settings)
    ).double()
    values = torch.randn(11, width, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    offsets = OFFSETS if bags == "several" else torch.tensor([0, 11])
    parameters = dict(pooling.named_parameters())

    def pool(values, *given):
        return tuple(torch.func.functional_call(pooling, dict(zip(parameters, given, strict=True)), (values, offsets)))

    assert torch.autograd.gradcheck(pool, (values, *parameters.values()))


@every
@pytest.mark.parametrize("heads", [1, pytest.param(2, marks=pytest.mark.full)])
def test_pooling_gives_every_parameter_of_the_model_a_gradient(case, heads):
    model, likelihood = model_of(case, heads).double().eval(), LIKELIHOODS[case[2]]
    scores = model(instances_of(), OFFSETS).scores
    likelihood.loss(scores, torch.tensor([0, 1, 1, 0])).sum().backward()
    without_gradient = [
        name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()
    ]
    assert without_gradient == []


@every
@pytest.mark.parametrize("scale", [pytest.param(1e4, marks=pytest.mark.full), 1e8, 1e-20])
def test_pooling_of_extreme_instances_is_finite_in_float32(case, scale):
    model, likelihood = model_of(case).eval(), LIKELIHOODS[case[2]]
    instances = instances_of(scale).float().requires_grad_()
    scores, weights = model(instances, OFFSETS)
    likelihood.loss(scores, torch.tensor([0, 1, 1, 0])).sum().backward()
    assert scores.isfinite().all()
    assert weights.isfinite().all()
    torch.testing.assert_close(
        torch.stack([bag.sum(0) for bag in weights.split(SIZES)]), torch.ones(4, weights.shape[1])
    )
    assert instances.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("case", [case for case in ALL if case not in SENSIBLE], ids=" ".join)
def test_pooling_rejects_levels_and_likelihoods_for_which_it_is_not_defined(case):
    title = POOLINGS[case[0]].title
    reason = (
        "do not exist at embedding level; use level='instance'"
        if case[1] == "embedding"
        else "one positive class, so it needs two"
    )
    with pytest.raises(InputError, match=f"pooling '{title}' combines probabilities.*{reason}"):
        model_of(case)
