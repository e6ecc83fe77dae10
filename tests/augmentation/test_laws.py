"""Laws of every augmentation: the same place gives the same bits, rows in pieces replay the whole."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.augmentation import AffineAugmentation, HistologyAugmentation, ShiftedCrop
from bagwise.places import Place, set_place

PATCHES = torch.from_numpy(np.random.default_rng(0).integers(60, 200, (40, 9, 9, 3), dtype=np.uint8))
DIGITS = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (40, 12, 10), dtype=np.uint8))
FAMILY = {
    "histology": (HistologyAugmentation, PATCHES),
    "normalized": (lambda: HistologyAugmentation(normalize=True), PATCHES),
    "affine": (AffineAugmentation, DIGITS),
    "affine colour": (AffineAugmentation, PATCHES),
    "crop": (lambda: ShiftedCrop(5), PATCHES),
    "crop grey": (lambda: ShiftedCrop(5), DIGITS),
    "crop, then histology": (lambda: torch.nn.Sequential(ShiftedCrop(5), HistologyAugmentation()), PATCHES),
}


def applied(make, instances, place=None):
    module = make().train()
    set_place(module, place or Place(seed=5, step=3))
    return module(instances)


@pytest.mark.parametrize("name", FAMILY)
def test_numbers_stay_as_exact_as_they_were_and_something_changes(name):
    make, instances = FAMILY[name]
    changed = applied(make, instances)
    assert changed.dtype in (torch.float32, instances.dtype)
    assert applied(make, instances.double()).dtype == torch.float64
    assert not torch.equal(changed.float(), make().eval()(instances).float())


@pytest.mark.parametrize("name", FAMILY)
def test_evaluation_is_the_same_wherever_the_run_stands(name):
    make, instances = FAMILY[name]
    module = make().eval()
    before = module(instances)
    set_place(module, Place(6, 1))
    assert torch.equal(module(instances), before)


@pytest.mark.parametrize("name", ["histology", "affine", "affine colour"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_evaluation_changes_nothing(name, dtype):
    make, instances = FAMILY[name]
    assert torch.equal(make().eval()(instances.to(dtype)), instances.float())


@pytest.mark.parametrize("name", FAMILY)
def test_the_same_place_gives_the_same_bits_and_others_do_not(name):
    make, instances = FAMILY[name]
    first = applied(make, instances)
    torch.rand(7)
    assert torch.equal(applied(make, instances), first)
    for place in (Place(6, 3), Place(5, 4), Place(5, 3, 40)):
        assert not torch.equal(applied(make, instances, place), first)
    second = torch.nn.ModuleList([HistologyAugmentation(), make()]).train()
    set_place(second, Place(5, 3))
    assert not torch.equal(second[1](instances), first)  # another layer, other draws


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(FAMILY)), st.integers(1, 39), st.integers(0, 1000))
def test_rows_in_pieces_replay_the_whole(name, cut, step):
    """In double precision, in which the order of sums hides no other draw."""
    make, instances = FAMILY[name]
    instances = instances.double()
    whole = applied(make, instances, Place(5, step))
    head = applied(make, instances[:cut], Place(5, step))
    tail = applied(make, instances[cut:], Place(5, step, first_row=cut))
    torch.testing.assert_close(torch.cat([head, tail]), whole, atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", FAMILY)
def test_outside_a_run_it_follows_the_seed_of_torch(name):
    make, instances = FAMILY[name]
    module = make().train()
    torch.manual_seed(3)
    first = module(instances)
    assert not torch.equal(module(instances), first)
    torch.manual_seed(3)
    assert torch.equal(module(instances), first)
