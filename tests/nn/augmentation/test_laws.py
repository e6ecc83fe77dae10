"""Properties of every augmentation: results depend on the position only, and not on how a batch is split."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bagwise.nn.augmentation import AffineAugmentation, HistologyAugmentation, ShiftedCrop
from bagwise.nn.dropout import StreamPosition, set_stream_position

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
every_augmentation = pytest.mark.parametrize("name", FAMILY)


def augment(build, instances, position=None):
    module = build().train()
    set_stream_position(module, position or StreamPosition(seed=5, step=3))
    return module(instances)


@every_augmentation
def test_augmentation_changes_images_and_keeps_the_precision(name):
    build, instances = FAMILY[name]
    changed = augment(build, instances)
    assert changed.dtype in (torch.float32, instances.dtype)
    assert augment(build, instances.double()).dtype == torch.float64
    assert not torch.equal(changed.float(), build().eval()(instances).float())


@every_augmentation
def test_augmentation_in_evaluation_mode_does_not_depend_on_the_position(name):
    build, instances = FAMILY[name]
    module = build().eval()
    before = module(instances)
    set_stream_position(module, StreamPosition(6, 1))
    assert torch.equal(module(instances), before)


@pytest.mark.parametrize("name", ["histology", "affine", "affine colour"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_augmentation_in_evaluation_mode_is_the_identity(name, dtype):
    build, instances = FAMILY[name]
    assert torch.equal(build().eval()(instances.to(dtype)), instances.float())


@every_augmentation
def test_augmentation_is_a_function_of_seed_step_row_and_layer(name):
    build, instances = FAMILY[name]
    first = augment(build, instances)
    torch.rand(7)
    assert torch.equal(augment(build, instances), first)
    for position in (StreamPosition(6, 3), StreamPosition(5, 4), StreamPosition(5, 3, 40)):
        assert not torch.equal(augment(build, instances, position), first)
    layers = torch.nn.ModuleList([HistologyAugmentation(), build()]).train()
    set_stream_position(layers, StreamPosition(5, 3))
    assert not torch.equal(layers[1](instances), first)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(FAMILY)), st.integers(1, 39), st.integers(0, 1000))
def test_augmentation_of_pieces_equals_that_of_the_whole_batch(name, cut, step):
    """In double precision, so that differences in rounding are much smaller than those of random numbers."""
    build, instances = FAMILY[name]
    instances = instances.double()
    whole = augment(build, instances, StreamPosition(5, step))
    first = augment(build, instances[:cut], StreamPosition(5, step))
    second = augment(build, instances[cut:], StreamPosition(5, step, first_row=cut))
    torch.testing.assert_close(torch.cat([first, second]), whole, atol=1e-9, rtol=0)


@every_augmentation
def test_augmentation_outside_a_run_uses_the_generator_of_torch(name):
    build, instances = FAMILY[name]
    module = build().train()
    torch.manual_seed(3)
    first = module(instances)
    assert not torch.equal(module(instances), first)
    torch.manual_seed(3)
    assert torch.equal(module(instances), first)
