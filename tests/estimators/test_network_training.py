"""Training of one network per fold: what each is trained on, what calibrates them, interruption, one engine for all."""

import numpy as np
import pytest
import torch
from torch import nn

from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.network_training import choose_plan_engine, train_networks
from bagwise.estimators.training_tasks import LabelledBags, plan_training
from bagwise.nn.model_average import list_members
from bagwise.targets.classes import ClassTarget
from bagwise.training.inference import run_inference
from bagwise.training.loop import TrainingStopped
from bagwise.training.progress import TrainingProgress
from training.test_loop import StopAfter

CPU = torch.device("cpu")
BAGS = load_dataset("needles", n_bags=25)
KNOWN = LabelledBags(BAGS, np.asarray(BAGS.labels).astype(int))


def make_model(**parameters):
    model = BagClassifier(**{"epochs": 4, "batch_size": 3, "random_state": 7, "validation": 3, **parameters})
    model.seed_, model.target_ = 7, ClassTarget(np.array([0, 1]))
    model.likelihood_ = model.target_.likelihood
    return model


def train(model, checkpoint=None, should_stop=lambda: False):
    plan = plan_training(model, KNOWN, None)
    choice = choose_plan_engine(model, plan, CPU)
    return plan, train_networks(model, plan, choice, checkpoint, TrainingProgress(), should_stop)


def get_bytes(model):
    return [value.numpy().tobytes() for value in model.state_dict().values()]


def test_train_networks_scores_every_bag_by_the_network_that_was_trained_without_it():
    plan, trained = train(make_model())
    members = list_members(trained.model)
    assert len(members) == len(plan.parts) == 3
    expected = [
        run_inference(member, part.held_out.bags, CPU).scores for member, part in zip(members, plan.parts, strict=True)
    ]
    np.testing.assert_array_equal(trained.held_out.scores, np.concatenate(expected))
    assert trained.held_out.folds.tolist() == np.repeat([0, 1, 2], [len(part) for part in expected]).tolist()


@pytest.mark.parametrize("engine", ["torch", "fused"])
def test_train_networks_trains_each_network_like_an_estimator_of_its_own(engine):
    """Every network has the bits of a network with its seed and its bags that is trained alone."""
    plan, trained = train(make_model(engine=engine))
    for part, member in zip(plan.parts, list_members(trained.model), strict=True):
        alone = make_model(engine=engine, validation=None, random_state=part.seed)
        alone.fit(part.training.bags, part.training.targets)
        assert get_bytes(alone.model_) == get_bytes(member)
    assert len({tuple(get_bytes(member)) for member in list_members(trained.model)}) == 3


def test_train_networks_averages_the_histories():
    plan, trained = train(make_model())
    losses = []
    for part in plan.parts:
        alone = make_model(validation=None, random_state=part.seed)
        losses.append([epoch.loss for epoch in alone.fit(part.training.bags, part.training.targets).history_])
    np.testing.assert_allclose([epoch.loss for epoch in trained.history], np.mean(losses, axis=0), rtol=1e-12)


def test_train_networks_makes_folds_of_a_single_set_of_held_out_bags():
    plan, trained = train(make_model(validation=0.4))
    assert len(plan.parts) == 1
    assert np.bincount(trained.held_out.folds).tolist() == [2] * 5
    assert train(make_model(validation=None))[1].held_out is None


class EncoderWithDropout(nn.Module):
    """A custom encoder that uses torch's generator."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.5))

    def forward(self, values):
        return self.layers(values)


@pytest.mark.parametrize("encoder", ["mlp", "custom"])
@pytest.mark.parametrize("stops", [[5], [22], [24], [25], [50], [10, 20, 40]], ids=str)  # a network takes 24 steps
def test_fit_that_is_interrupted_in_any_network_and_resumed_ends_with_the_same_bits(tmp_path, encoder, stops):
    torch.manual_seed(0)
    module = EncoderWithDropout() if encoder == "custom" else encoder
    whole = make_model(encoder=module).fit(BAGS, BAGS.labels)
    for stop in stops:
        with pytest.raises(TrainingStopped):
            make_model(encoder=module).fit(
                BAGS, BAGS.labels, checkpoint=tmp_path / "state", should_stop=StopAfter(stop)
            )
    resumed = make_model(encoder=module).fit(BAGS, BAGS.labels, checkpoint=tmp_path / "state")
    assert get_bytes(resumed.model_) == get_bytes(whole.model_)
    assert [epoch.loss for epoch in resumed.history_] == [epoch.loss for epoch in whole.history_]
    assert resumed.calibration_ == whole.calibration_


def test_fit_of_a_finished_checkpoint_trains_nothing(tmp_path):
    class CountingProgress(TrainingProgress):
        batches = 0

        def batch(self, done, batches):
            self.batches += 1

    first = make_model().fit(BAGS, BAGS.labels, checkpoint=tmp_path / "state")
    progress = CountingProgress()
    again = make_model().fit(BAGS, BAGS.labels, checkpoint=tmp_path / "state", progress=progress)
    assert progress.batches == 0
    assert get_bytes(again.model_) == get_bytes(first.model_)


def test_choose_plan_engine_counts_the_steps_of_all_networks():
    """A compilation that would not pay off for one network may pay off for all of them."""
    names = {}
    for validation in (None, 5):
        model = make_model(engine="auto", epochs=100, validation=validation)
        names[validation] = choose_plan_engine(model, plan_training(model, KNOWN, None), CPU).name
    assert names == {None: "torch", 5: "fused"}
