"""Histology: each patch's stains by its own two factors, turns and mirrors that lose no pixel, colours normalised."""

import numpy as np
import pytest
import torch

from bagwise.augmentation.histology import HistologyAugmentation, turn
from bagwise.errors import InputError
from bagwise.places import Place
from bagwise.slides.stains import deconvolve, normalize_colour

PATCHES = torch.from_numpy(np.random.default_rng(0).integers(60, 200, (40, 9, 9, 3), dtype=np.uint8))


def applied(module, patches):
    module.place = Place(seed=5, step=3)
    return module.train()(patches)


def test_normalization_is_done_in_evaluation_too():
    module = HistologyAugmentation(normalize=True).eval()
    assert torch.equal(module(PATCHES), normalize_colour(PATCHES.float()))


def test_the_factors_of_a_patch_show_in_its_stains():
    patches = PATCHES.double() / 2 + 60  # far from black and white, where values would be cut off
    changed = applied(HistologyAugmentation(0.1, turns=False, mirror=False), patches)
    before, after = deconvolve(patches), deconvolve(changed)
    ratio = (after / before)[..., :2]
    spread_within = ratio.flatten(1, 2).quantile(0.9, dim=1) - ratio.flatten(1, 2).quantile(0.1, dim=1)
    assert spread_within.max() < 1e-6  # one factor a patch and stain
    torch.testing.assert_close(after[..., 2], before[..., 2])


def test_factors_have_mean_one_and_the_given_spread_and_are_independent():
    grey = torch.full((20_000, 1, 1, 3), 150.0, dtype=torch.float64)
    changed = applied(HistologyAugmentation(0.05), grey)
    factors = (deconvolve(changed) / deconvolve(grey))[:, 0, 0, :2]
    assert (factors.mean(dim=0) - 1).abs().max() < 5 * 0.05 / np.sqrt(len(factors))
    assert factors.std(dim=0).tolist() == pytest.approx([0.05, 0.05], rel=0.03)
    assert abs(np.corrcoef(factors.T)[0, 1]) < 5 / np.sqrt(len(factors))


def test_turns_and_mirrors_all_occur_and_only_move_pixels():
    patch = torch.arange(25 * 3, dtype=torch.float32).reshape(1, 5, 5, 3)
    results = applied(HistologyAugmentation(spread=0), patch.repeat(400, 1, 1, 1))
    views = {tuple(view.flatten().tolist()) for mirrored in (patch[0], patch[0].flip(1)) for view in quarters(mirrored)}
    seen = {tuple(result.flatten().tolist()) for result in results}
    assert seen == views
    assert len(views) == 8


def quarters(patch):
    return [torch.rot90(patch, k, dims=(0, 1)) for k in range(4)]


def test_turning_back_is_the_identity():
    codes = torch.arange(40) % 8
    back = torch.where(codes >= 4, codes, (4 - codes) % 4)  # a mirrored turn is its own inverse
    assert torch.equal(turn(turn(PATCHES, codes), back), PATCHES)


def test_switches_switch_off():
    assert torch.equal(applied(HistologyAugmentation(0, turns=False, mirror=False), PATCHES), PATCHES.float())
    wide = PATCHES[:, :7]
    assert applied(HistologyAugmentation(turns=False), wide).shape == wide.shape
    with pytest.raises(InputError, match="9×7 pixels cannot be turned by a quarter; pass turns=False"):
        HistologyAugmentation().eval()(wide)  # before any training


def test_floats_up_to_one_are_treated_as_bytes_are():
    as_bytes = applied(HistologyAugmentation(normalize=True), PATCHES)
    floats = applied(HistologyAugmentation(normalize=True, peak=1.0), PATCHES.float() / 255)
    torch.testing.assert_close(floats * 255, as_bytes, atol=0.02, rtol=0)


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        (torch.zeros(4, 166), r"takes colour images.*shape \(166,\)"),
        (torch.zeros(4, 28, 28), r"takes colour images.*shape \(28, 28\)"),
        (torch.zeros(4, 8, 8, 3) - 1, "values from 0 to 255, and these go from -1 to -1"),
        (torch.full((4, 8, 8, 3), 256.0), "values from 0 to 255"),
        (torch.full((4, 8, 8, 3), float("nan")), "values from 0 to 255"),
    ],
)
def test_what_is_no_stained_patch_is_refused(instances, message):
    with pytest.raises(InputError, match=message):
        HistologyAugmentation().eval()(instances)


@pytest.mark.parametrize("spread", [-0.1, 1.0, float("nan")])
def test_impossible_parameters_are_refused(spread):
    with pytest.raises(InputError, match="stain spread is"):
        HistologyAugmentation(spread)
    with pytest.raises(InputError, match="peak is 0"):
        HistologyAugmentation(peak=0)


def test_what_changes_the_result_shows_in_the_words():
    """Runs are told apart by them."""
    kinds = [{}, {"spread": 0.1}, {"turns": False}, {"mirror": False}, {"normalize": True}, {"peak": 1.0}]
    assert len({repr(HistologyAugmentation(**options)) for options in kinds}) == len(kinds)
