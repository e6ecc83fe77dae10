"""Laws of augmentation: evaluation changes nothing, the same place gives the same bits, no pixel is lost."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.augmentation import AffineAugmentation, HistologyAugmentation, stain_factors, turn
from bagwise.errors import InputError
from bagwise.places import Place
from bagwise.slides.stains import deconvolve, normalize_colour

PATCHES = torch.from_numpy(np.random.default_rng(0).integers(60, 200, (40, 9, 9, 3), dtype=np.uint8))
DIGITS = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (40, 12, 10), dtype=np.uint8))
FAMILY = {
    "histology": (HistologyAugmentation, PATCHES),
    "normalized": (lambda: HistologyAugmentation(normalize=True), PATCHES),
    "affine": (AffineAugmentation, DIGITS),
    "affine colour": (AffineAugmentation, PATCHES),
}


def applied(make, instances, place=None, layer=0):
    module = make().train()
    module.place, module.layer = place or Place(seed=5, step=3), layer
    return module(instances)


@pytest.mark.parametrize("name", FAMILY)
def test_shape_stays_and_the_result_is_float(name):
    make, instances = FAMILY[name]
    result = applied(make, instances)
    assert result.shape == instances.shape
    assert result.dtype == torch.float32
    assert applied(make, instances.double()).dtype == torch.float64
    assert not torch.equal(result, instances.float())


@pytest.mark.parametrize("name", ["histology", "affine", "affine colour"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_evaluation_changes_nothing(name, dtype):
    make, instances = FAMILY[name]
    module = make().eval()
    module.place = Place(5, 0)
    assert torch.equal(module(instances.to(dtype)), instances.float())


def test_normalization_is_done_in_evaluation_too():
    module = HistologyAugmentation(normalize=True).eval()
    assert torch.equal(module(PATCHES), normalize_colour(PATCHES.float()))


@pytest.mark.parametrize("name", FAMILY)
def test_the_same_place_gives_the_same_bits_and_others_do_not(name):
    make, instances = FAMILY[name]
    first = applied(make, instances)
    torch.rand(7)
    assert torch.equal(applied(make, instances), first)
    for place, layer in ((Place(6, 3), 0), (Place(5, 4), 0), (Place(5, 3, 40), 0), (Place(5, 3), 1)):
        assert not torch.equal(applied(make, instances, place, layer), first)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(FAMILY)), st.integers(1, 39), st.integers(0, 1000))
def test_rows_in_pieces_replay_the_whole(name, cut, step):
    make, instances = FAMILY[name]
    whole = applied(make, instances, Place(5, step))
    head = applied(make, instances[:cut], Place(5, step))
    tail = applied(make, instances[cut:], Place(5, step, first_row=cut))
    torch.testing.assert_close(torch.cat([head, tail]), whole, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", FAMILY)
def test_outside_a_run_it_follows_the_seed_of_torch(name):
    make, instances = FAMILY[name]
    module = make().train()
    torch.manual_seed(3)
    first = module(instances)
    assert not torch.equal(module(instances), first)
    torch.manual_seed(3)
    assert torch.equal(module(instances), first)


def test_factors_have_mean_one_and_the_given_spread_and_are_independent():
    module = HistologyAugmentation(0.02)
    module.place = Place(5, 0)
    factors = stain_factors(module.draw(40_000, 3)[:, :2], 0.02)
    error = 0.02 / np.sqrt(len(factors))
    assert np.abs(factors.mean(axis=0) - 1).max() < 5 * error
    assert factors.std(axis=0) == pytest.approx([0.02, 0.02], rel=0.02)
    assert abs(np.corrcoef(factors.T)[0, 1]) < 5 / np.sqrt(len(factors))
    central = (np.abs(factors - 1) < 0.02).mean()
    assert central == pytest.approx(0.6827, abs=0.01)  # the Gaussian's share within one standard deviation


def test_the_factors_of_a_patch_show_in_its_stains():
    patches = PATCHES.double() / 2 + 60  # far from black and white, where values would be cut off
    changed = applied(lambda: HistologyAugmentation(0.1, turns=False, mirror=False), patches)
    before, after = deconvolve(patches), deconvolve(changed)
    ratio = (after / before)[..., :2]
    spread_within = ratio.flatten(1, 2).quantile(0.9, dim=1) - ratio.flatten(1, 2).quantile(0.1, dim=1)
    assert spread_within.max() < 1e-6  # one factor a patch and stain
    assert ratio.flatten(1, 2).median(dim=1).values.std(dim=0).min() > 0.05
    torch.testing.assert_close(after[..., 2], before[..., 2])


def test_turns_and_mirrors_all_occur_and_only_move_pixels():
    patch = torch.arange(25 * 3, dtype=torch.float32).reshape(1, 5, 5, 3)
    results = applied(lambda: HistologyAugmentation(spread=0), patch.repeat(400, 1, 1, 1))
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
    assert torch.equal(applied(lambda: HistologyAugmentation(0, turns=False, mirror=False), PATCHES), PATCHES.float())
    wide = PATCHES[:, :7]
    assert applied(lambda: HistologyAugmentation(turns=False), wide).shape == wide.shape
    with pytest.raises(InputError, match="9×7 pixels cannot be turned by a quarter; pass turns=False"):
        applied(HistologyAugmentation, wide)


def test_floats_up_to_one_are_treated_as_bytes_are():
    bytes_ = applied(lambda: HistologyAugmentation(normalize=True), PATCHES)
    floats = applied(lambda: HistologyAugmentation(normalize=True, peak=1.0), PATCHES.float() / 255)
    torch.testing.assert_close(floats * 255, bytes_, atol=0.02, rtol=0)


def test_affine_without_change_is_the_image_and_shifts_are_in_pixels():
    still = applied(lambda: AffineAugmentation(0, 0, 0, 0), DIGITS)
    torch.testing.assert_close(still, DIGITS.float(), atol=1e-3, rtol=0)
    dots = torch.zeros(300, 21, 15)
    dots[:, 10, 7] = 1
    moved = applied(lambda: AffineAugmentation(0, 0, 0, shift=2), dots)
    rows = (moved * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / moved.sum(dim=(1, 2))
    columns = (moved * torch.arange(15.0)).sum(dim=(1, 2)) / moved.sum(dim=(1, 2))
    for places, middle in ((rows, 10), (columns, 7)):
        assert (places - middle).abs().max() <= 2.001
        assert places.min() < middle - 1.8
        assert places.max() > middle + 1.8


def test_affine_turns_without_distortion_in_a_wide_image():
    wide = torch.zeros(50, 21, 41)
    wide[:, 10, 30] = 1  # ten pixels right of the middle
    turned = applied(lambda: AffineAugmentation(15, 0, 0, 0), wide)
    mass = turned.sum(dim=(1, 2))
    x = (turned * torch.arange(41.0)).sum(dim=(1, 2)) / mass - 20
    y = (turned * torch.arange(21.0)[:, None]).sum(dim=(1, 2)) / mass - 10
    assert ((x**2 + y**2).sqrt() - 10).abs().max() < 0.3
    assert torch.atan2(y, x).abs().max() <= np.radians(15.5)
    assert torch.atan2(y, x).abs().max() > np.radians(12)


@pytest.mark.parametrize("spread", [-0.1, 1.0, float("nan")])
def test_impossible_parameters_are_refused(spread):
    with pytest.raises(InputError, match="stain spread is"):
        HistologyAugmentation(spread)
    with pytest.raises(InputError, match="scale below 1"):
        AffineAugmentation(scale=1.0)
