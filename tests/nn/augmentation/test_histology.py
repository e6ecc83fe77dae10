import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.nn.augmentation.histology import HistologyAugmentation, turn_images
from bagwise.nn.dropout import StreamPosition
from bagwise.nn.stains import normalize_colour, separate_stains

PATCHES = torch.from_numpy(np.random.default_rng(0).integers(60, 200, (40, 9, 9, 3), dtype=np.uint8))


def augment(module, patches):
    module.position = StreamPosition(seed=5, step=3)
    return module.train()(patches)


def test_histology_normalizes_colours_also_in_evaluation_mode():
    module = HistologyAugmentation(normalize=True).eval()
    assert torch.equal(module(PATCHES), normalize_colour(PATCHES.float()))


def test_histology_multiplies_each_stain_of_a_patch_by_one_factor():
    patches = PATCHES.double() / 2 + 60  # values close to black or white would be clipped
    changed = augment(HistologyAugmentation(0.1, turns=False, mirror=False), patches)
    before, after = separate_stains(patches), separate_stains(changed)
    ratio = (after / before)[..., :2]
    spread_within_patch = ratio.flatten(1, 2).quantile(0.9, dim=1) - ratio.flatten(1, 2).quantile(0.1, dim=1)
    assert spread_within_patch.max() < 1e-6
    torch.testing.assert_close(after[..., 2], before[..., 2])


def test_histology_factors_have_mean_one_and_the_given_spread_and_are_independent():
    grey = torch.full((20_000, 1, 1, 3), 150.0, dtype=torch.float64)
    changed = augment(HistologyAugmentation(0.05), grey)
    factors = (separate_stains(changed) / separate_stains(grey))[:, 0, 0, :2]
    assert (factors.mean(dim=0) - 1).abs().max() < 5 * 0.05 / np.sqrt(len(factors))
    assert factors.std(dim=0).tolist() == pytest.approx([0.05, 0.05], rel=0.03)
    assert abs(np.corrcoef(factors.T)[0, 1]) < 5 / np.sqrt(len(factors))


def quarter_turns(patch):
    return [torch.rot90(patch, k, dims=(0, 1)) for k in range(4)]


def test_histology_produces_all_eight_rotations_and_reflections_without_changing_pixels():
    patch = torch.arange(25 * 3, dtype=torch.float32).reshape(1, 5, 5, 3)
    results = augment(HistologyAugmentation(spread=0), patch.repeat(400, 1, 1, 1))
    expected = [view for mirrored in (patch[0], patch[0].flip(1)) for view in quarter_turns(mirrored)]
    assert len({tuple(view.flatten().tolist()) for view in expected}) == 8
    found = {tuple(result.flatten().tolist()) for result in results}
    assert found == {tuple(view.flatten().tolist()) for view in expected}


def test_histology_without_spread_turns_and_mirror_is_the_identity():
    assert torch.equal(augment(HistologyAugmentation(0, turns=False, mirror=False), PATCHES), PATCHES.float())


def test_histology_accepts_patches_that_are_not_square_only_without_turns():
    wide = PATCHES[:, :7]
    assert augment(HistologyAugmentation(turns=False), wide).shape == wide.shape
    with pytest.raises(InputError, match=r"9×7 pixels are not square .*use HistologyAugmentation\(turns=False\)"):
        HistologyAugmentation().eval()(wide)  # also in evaluation mode, so that it is detected before training


def test_histology_of_floats_from_zero_to_one_matches_that_of_bytes():
    as_bytes = augment(HistologyAugmentation(normalize=True), PATCHES)
    floats = augment(HistologyAugmentation(normalize=True, peak=1.0), PATCHES.float() / 255)
    torch.testing.assert_close(floats * 255, as_bytes, atol=0.02, rtol=0)


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        (torch.zeros(4, 166), r"needs colour images.*shape \(166,\)"),
        (torch.zeros(4, 28, 28), r"needs colour images.*shape \(28, 28\)"),
        (torch.zeros(4, 8, 8, 3) - 1, "values from 0 to 255, got -1 to -1"),
        (torch.full((4, 8, 8, 3), 256.0), "values from 0 to 255, got 256 to 256"),
        (torch.full((4, 8, 8, 3), float("nan")), "values from 0 to 255, got nan to nan"),
    ],
)
def test_histology_rejects_instances_that_are_not_unscaled_colour_images(instances, message):
    with pytest.raises(InputError, match=message):
        HistologyAugmentation().eval()(instances)


@pytest.mark.parametrize("spread", [-0.1, 1.0, float("nan")])
def test_histology_rejects_an_invalid_spread(spread):
    with pytest.raises(InputError, match=f"stain spread must be .*, got {spread}"):
        HistologyAugmentation(spread)


def test_histology_rejects_an_invalid_peak():
    with pytest.raises(InputError, match=r"peak must be .*, got 0"):
        HistologyAugmentation(peak=0)


def test_histology_repr_contains_all_parameters():
    """Runs with different augmentations are distinguished by their repr."""
    options = [{}, {"spread": 0.1}, {"turns": False}, {"mirror": False}, {"normalize": True}, {"peak": 1.0}]
    assert len({repr(HistologyAugmentation(**changes)) for changes in options}) == len(options)


def test_turn_images_with_inverse_codes_restores_the_images():
    codes = torch.arange(40) % 8
    inverse = torch.where(codes >= 4, codes, (4 - codes) % 4)  # a reflection is its own inverse
    assert torch.equal(turn_images(turn_images(PATCHES, codes), inverse), PATCHES)
