import pytest
import torch
from torch import nn

from bagwise.errors import InputError
from bagwise.nn.augmentation.geometry import AffineAugmentation
from bagwise.nn.augmentation.histology import HistologyAugmentation
from bagwise.nn.augmentation.registry import AUGMENTATIONS, build_augmentation, get_augmented_shape


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_build_augmentation_returns_a_module_with_the_same_output_shape_in_both_modes(name):
    module = build_augmentation(name.upper(), (39, 39, 3))
    images = torch.zeros(4, 39, 39, 3)
    shape = get_augmented_shape(module, (39, 39, 3))
    assert module.training
    assert module.train()(images).shape == module.eval()(images).shape == (4, *shape)


def test_build_augmentation_returns_a_given_module():
    module = nn.Identity()
    assert build_augmentation(module, (5,)) is module


def test_build_augmentation_auto_depends_on_the_shape_of_the_instances():
    assert isinstance(build_augmentation("auto", (28, 28)), AffineAugmentation)
    assert isinstance(build_augmentation("auto", (27, 27, 3)), HistologyAugmentation)
    assert build_augmentation("auto", (28, 28, 4)) is None
    assert build_augmentation("auto", (8, 8)) is None
    assert build_augmentation("auto", (166,)) is None
    assert build_augmentation(None, (28, 28)) is None


def test_build_augmentation_rejects_unknown_names_and_other_types():
    with pytest.raises(InputError, match="augmentation 'hystology'"):
        build_augmentation("hystology", (39, 39, 3))
    with pytest.raises(InputError, match=r"augmentation must be a name, a torch.nn.Module or None, got 3"):
        build_augmentation(3, (39, 39, 3))


def test_get_augmented_shape_differs_from_the_stored_shape_for_crops_only():
    shapes = {name: get_augmented_shape(build_augmentation(name, (39, 39, 3)), (39, 39, 3)) for name in AUGMENTATIONS}
    assert shapes == {"histology": (39, 39, 3), "affine": (39, 39, 3), "nucleus": (27, 27, 3)}


def test_get_augmented_shape_restores_the_mode_of_every_module():
    module = nn.Sequential(nn.Identity().eval(), nn.Identity())
    module.training = False
    get_augmented_shape(module, (5,))
    assert [part.training for part in module.modules()] == [False, False, True]


def test_get_augmented_shape_rejects_unsupported_instances_and_names_their_shape():
    with pytest.raises(InputError, match=r"cannot be applied to instances of shape \(5,\)"):
        get_augmented_shape(nn.Linear(3, 3), (5,))
