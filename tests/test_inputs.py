"""Stored instances become what an encoder reads."""

import numpy as np
import pytest
import torch

from bagwise import inputs
from bagwise.errors import InputError
from bagwise.inputs import Prepare, encoder_shape, scaling

NOISE = np.random.default_rng(5)


def standardizing_input(instances):
    return Prepare(instances.shape[1:], scaling(instances, standardize=True))


def identity_input(instances):
    return Prepare(instances.shape[1:], scaling(instances, standardize=False))


def standardized(instances):
    return standardizing_input(instances).double()(torch.from_numpy(instances)).numpy()


@pytest.mark.parametrize("rows_at_once", [1, 7, 99, 100, 101, 1 << 14])
def test_vectors_are_standardised_as_by_numpy_whatever_the_pieces(monkeypatch, rows_at_once):
    monkeypatch.setattr(inputs, "ROWS_AT_ONCE", rows_at_once)
    instances = NOISE.normal(loc=[-3.0, 0.0, 200.0], scale=[0.1, 1.0, 30.0], size=(100, 3))
    prepare = standardizing_input(instances)
    np.testing.assert_allclose(prepare.center.numpy(), instances.mean(0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(prepare.scale.numpy(), instances.std(0), rtol=1e-6)
    expected = (instances - instances.mean(0)) / instances.std(0)
    np.testing.assert_allclose(prepare(torch.from_numpy(instances)).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_more_rows_than_are_read_at_once_are_standardised_as_by_numpy():
    instances = NOISE.normal(5, 2, size=(inputs.ROWS_AT_ONCE * 2 + 17, 2)) + np.linspace(0, 9, 32785)[:, None]
    prepare = standardizing_input(instances)
    np.testing.assert_allclose(prepare.center.numpy(), instances.mean(0), rtol=1e-6)
    np.testing.assert_allclose(prepare.scale.numpy(), instances.std(0), rtol=1e-6)


@pytest.mark.parametrize("rows_at_once", [3, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_images_are_standardised_by_channel_and_get_their_channels_first(monkeypatch, rows_at_once, dtype):
    monkeypatch.setattr(inputs, "ROWS_AT_ONCE", rows_at_once)
    images = (NOISE.random((10, 6, 5, 3)) * [50, 100, 200]).astype(dtype)
    expected = (images - images.mean((0, 1, 2))) / images.std((0, 1, 2))
    np.testing.assert_allclose(standardized(images), np.moveaxis(expected, -1, 1), rtol=1e-5, atol=1e-5)


def test_grey_images_get_one_channel():
    images = NOISE.integers(0, 256, (10, 6, 5), dtype=np.uint8)
    expected = (images - images.mean()) / images.std()
    np.testing.assert_allclose(standardized(images), expected[:, None], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e8])
@pytest.mark.parametrize("rows_at_once", [4, 1000])
def test_a_constant_feature_is_only_centred(monkeypatch, value, rows_at_once):
    monkeypatch.setattr(inputs, "ROWS_AT_ONCE", rows_at_once)
    instances = np.stack([np.full(50, value), NOISE.normal(size=50)], axis=1)
    prepare = standardizing_input(instances)
    assert prepare.scale[0] == 1
    centred = prepare(torch.from_numpy(instances))[:, 0]
    assert centred.abs().max() <= torch.finfo(torch.float32).eps * value  # the centre is a float32


def test_one_instance_alone_is_only_centred():
    assert not standardized(np.array([[1.0, -2.0]])).any()


def test_statistics_are_those_of_the_training_instances():
    train, test = NOISE.normal(size=(50, 2)), NOISE.normal(size=(20, 2)) + 9
    expected = (test - train.mean(0)) / train.std(0)
    result = standardizing_input(train)(torch.from_numpy(test)).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_bytes_become_zero_to_one_without_standardisation():
    images = np.array([[[0, 51], [102, 255]]], dtype=np.uint8)
    result = identity_input(images)(torch.from_numpy(images))
    torch.testing.assert_close(result, torch.tensor([[[[0.0, 0.2], [0.4, 1.0]]]]))


def test_other_numbers_stay_as_they_are_without_standardisation():
    vectors = NOISE.normal(size=(4, 3)).astype(np.float32)
    assert torch.equal(identity_input(vectors)(torch.from_numpy(vectors)), torch.from_numpy(vectors))


def test_statistics_travel_with_the_state_of_the_model():
    assert set(standardizing_input(np.eye(3)).state_dict()) == {"center", "scale"}


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_channels_first_is_refused_with_the_fix(channels):
    with pytest.raises(InputError, match=r"channels first; store images as .* np\.moveaxis\(images, 1, -1\)"):
        encoder_shape((channels, 28, 28))
    with pytest.raises(InputError, match="channels first"):
        standardizing_input(np.zeros((2, channels, 28, 28)))


@pytest.mark.parametrize("shape", [(28, 28, 7), (2, 3, 4, 5), ()])
def test_what_is_neither_vector_nor_image_is_refused(shape):
    with pytest.raises(InputError, match=r"neither vectors nor images; give \(features,\), \(height, width\) or"):
        encoder_shape(shape)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6])
def test_the_unit_of_a_feature_does_not_matter(unit):
    values = NOISE.normal(size=(50, 3))
    np.testing.assert_allclose(standardized(values * unit), standardized(values), rtol=1e-4, atol=1e-5)


def test_rows_are_what_the_encoder_reads_laid_flat():
    images = NOISE.integers(0, 256, (10, 6, 5, 3), dtype=np.uint8)
    rows = scaling(images, standardize=True).rows(images)
    np.testing.assert_allclose(rows.reshape(images.shape), np.moveaxis(standardized(images), 1, -1), atol=1e-5)
    assert rows.shape == (10, 90)
    assert rows.dtype == np.float64
