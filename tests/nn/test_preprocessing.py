"""Tests of the conversion of stored instances to encoder input."""

import numpy as np
import pytest
import torch

from bagwise.bags import Bags
from bagwise.errors import InputError
from bagwise.nn import preprocessing
from bagwise.nn.preprocessing import Preprocessing, fit_scaling, get_encoder_shape

NOISE = np.random.default_rng(5)


def pack(instances):
    return Bags(instances, np.array([0, len(instances)]))


def make_standardizing(instances):
    return Preprocessing(instances.shape[1:], fit_scaling(pack(instances), scaling="standard"))


def make_identity(instances):
    return Preprocessing(instances.shape[1:], fit_scaling(pack(instances), scaling="none"))


def standardize(instances):
    return make_standardizing(instances).double()(torch.from_numpy(instances)).numpy()


@pytest.mark.parametrize("rows_at_once", [1, 7, 99, 100, 101, 1 << 14])
def test_fit_scaling_of_vectors_agrees_with_numpy_for_any_piece_size(monkeypatch, rows_at_once):
    monkeypatch.setattr(preprocessing, "ROWS_AT_ONCE", rows_at_once)
    instances = NOISE.normal(loc=[-3.0, 0.0, 200.0], scale=[0.1, 1.0, 30.0], size=(100, 3))
    preprocess = make_standardizing(instances)
    np.testing.assert_allclose(preprocess.center.numpy(), instances.mean(0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(preprocess.scale.numpy(), instances.std(0), rtol=1e-6)
    expected = (instances - instances.mean(0)) / instances.std(0)
    np.testing.assert_allclose(preprocess(torch.from_numpy(instances)).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_fit_scaling_of_more_rows_than_one_piece_agrees_with_numpy():
    instances = NOISE.normal(5, 2, size=(preprocessing.ROWS_AT_ONCE * 2 + 17, 2)) + np.linspace(0, 9, 32785)[:, None]
    preprocess = make_standardizing(instances)
    np.testing.assert_allclose(preprocess.center.numpy(), instances.mean(0), rtol=1e-6)
    np.testing.assert_allclose(preprocess.scale.numpy(), instances.std(0), rtol=1e-6)


@pytest.mark.parametrize("rows_at_once", [3, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_preprocessing_standardizes_images_per_channel_and_moves_channels_first(monkeypatch, rows_at_once, dtype):
    monkeypatch.setattr(preprocessing, "ROWS_AT_ONCE", rows_at_once)
    images = (NOISE.random((10, 6, 5, 3)) * [50, 100, 200]).astype(dtype)
    expected = (images - images.mean((0, 1, 2))) / images.std((0, 1, 2))
    np.testing.assert_allclose(standardize(images), np.moveaxis(expected, -1, 1), rtol=1e-5, atol=1e-5)


def test_preprocessing_gives_grey_images_one_channel():
    images = NOISE.integers(0, 256, (10, 6, 5), dtype=np.uint8)
    expected = (images - images.mean()) / images.std()
    np.testing.assert_allclose(standardize(images), expected[:, None], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e8])
@pytest.mark.parametrize("rows_at_once", [4, 1000])
def test_fit_scaling_only_centres_a_constant_feature(monkeypatch, value, rows_at_once):
    monkeypatch.setattr(preprocessing, "ROWS_AT_ONCE", rows_at_once)
    instances = np.stack([np.full(50, value), NOISE.normal(size=50)], axis=1)
    preprocess = make_standardizing(instances)
    assert preprocess.scale[0] == 1
    centred = preprocess(torch.from_numpy(instances))[:, 0]
    assert centred.abs().max() <= torch.finfo(torch.float32).eps * value  # the centre is stored in float32


def test_fit_scaling_only_centres_a_single_instance():
    assert not standardize(np.array([[1.0, -2.0]])).any()


def test_preprocessing_scales_other_instances_by_the_training_statistics():
    train, test = NOISE.normal(size=(50, 2)), NOISE.normal(size=(20, 2)) + 9
    expected = (test - train.mean(0)) / train.std(0)
    result = make_standardizing(train)(torch.from_numpy(test)).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_fit_scaling_without_standardization_scales_bytes_to_zero_to_one():
    images = np.array([[[0, 51], [102, 255]]], dtype=np.uint8)
    result = make_identity(images)(torch.from_numpy(images))
    torch.testing.assert_close(result, torch.tensor([[[[0.0, 0.2], [0.4, 1.0]]]]))


def test_fit_scaling_without_standardization_keeps_floats():
    vectors = NOISE.normal(size=(4, 3)).astype(np.float32)
    assert torch.equal(make_identity(vectors)(torch.from_numpy(vectors)), torch.from_numpy(vectors))


def test_preprocessing_statistics_are_part_of_the_state_dict():
    assert set(make_standardizing(np.eye(3)).state_dict()) == {"center", "scale"}


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_get_encoder_shape_rejects_channels_first_and_suggests_a_fix(channels):
    with pytest.raises(InputError, match=r"channels first; store images as .* np\.moveaxis\(images, 1, -1\)"):
        get_encoder_shape((channels, 28, 28))
    with pytest.raises(InputError, match="channels first"):
        make_standardizing(np.zeros((2, channels, 28, 28)))


@pytest.mark.parametrize("shape", [(28, 28, 7), (2, 3, 4, 5), ()])
def test_get_encoder_shape_rejects_instances_that_are_neither_vectors_nor_images(shape):
    with pytest.raises(
        InputError, match=r"neither vectors nor images; their shape must be \(features,\), \(height, width\) or"
    ):
        get_encoder_shape(shape)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6])
def test_fit_scaling_does_not_depend_on_the_unit_of_a_feature(unit):
    values = NOISE.normal(size=(50, 3))
    np.testing.assert_allclose(standardize(values * unit), standardize(values), rtol=1e-4, atol=1e-5)


def test_scaling_rows_are_the_flattened_encoder_input():
    images = NOISE.integers(0, 256, (10, 6, 5, 3), dtype=np.uint8)
    rows = fit_scaling(pack(images), scaling="standard").rows(images)
    np.testing.assert_allclose(rows.reshape(images.shape), np.moveaxis(standardize(images), 1, -1), atol=1e-5)
    assert rows.shape == (10, 90)
    assert rows.dtype == np.float64
