import pytest
import torch
from torch import nn

from bagwise.augmentation.affine import AffineAugmentation
from bagwise.augmentation.building import AUGMENTATIONS, augmented_shape, build_augmentation
from bagwise.augmentation.histology import HistologyAugmentation
from bagwise.errors import InputError


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_names_build_modules_that_train_and_evaluate_to_the_shape_they_say(name):
    module = build_augmentation(name.upper(), (39, 39, 3))
    images = torch.zeros(4, 39, 39, 3)
    shape = augmented_shape(module, (39, 39, 3))
    assert module.training
    assert module.train()(images).shape == module.eval()(images).shape == (4, *shape)


def test_only_the_crop_changes_the_shape():
    shapes = {name: augmented_shape(build_augmentation(name, (39, 39, 3)), (39, 39, 3)) for name in AUGMENTATIONS}
    assert shapes == {"histology": (39, 39, 3), "affine": (39, 39, 3), "nucleus": (27, 27, 3)}


def test_the_mode_of_every_part_stays_as_it_was():
    module = nn.Sequential(nn.Identity().eval(), nn.Identity())
    module.training = False
    augmented_shape(module, (5,))
    assert [part.training for part in module.modules()] == [False, False, True]


def test_what_cannot_be_built_is_refused():
    with pytest.raises(InputError, match="augmentation"):
        build_augmentation("hystology", (39, 39, 3))
    with pytest.raises(InputError, match="augmentation is a int; give a name or a module"):
        build_augmentation(3, (39, 39, 3))
    own = nn.Identity()
    assert build_augmentation(own, (5,)) is own
    with pytest.raises(InputError, match=r"cannot take instances of shape \(5,\)"):
        augmented_shape(nn.Linear(3, 3), (5,))


def test_auto_takes_what_fits_the_instances():
    assert isinstance(build_augmentation("auto", (28, 28)), AffineAugmentation)
    assert isinstance(build_augmentation("auto", (27, 27, 3)), HistologyAugmentation)
    assert build_augmentation("auto", (28, 28, 4)) is None
    assert build_augmentation("auto", (8, 8)) is None
    assert build_augmentation("auto", (166,)) is None
    assert build_augmentation(None, (28, 28)) is None
