"""Construction of the network of ``BagClassifier``: augmentation, preprocessing, encoder, context, pooling and head."""

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.nn import (
    BagModel,
    Preprocessing,
    Purpose,
    build_augmentation,
    build_bag_model,
    fit_scaling,
    get_augmented_shape,
    random_integer,
)
from bagwise.nn.pooling import PoolingSettings


def build_network(estimator: Any, bags: Bags, seed: int) -> BagModel:
    """Build an untrained network of an estimator for these bags.

    Custom modules are copied, so that training does not change the originals.
    """
    augmentation = build_augmentation(copy.deepcopy(estimator.augmentation), bags.instance_shape)
    first_layers = [] if augmentation is None else [augmentation]
    shape = get_augmented_shape(nn.Sequential(*first_layers), bags.instance_shape)
    generator = torch.Generator().manual_seed(random_integer(seed, Purpose.INITIALIZATION))
    preprocessing = Preprocessing(bags.instance_shape, fit_scaling(bags, estimator.scaling))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(random_integer(seed, Purpose.INITIALIZATION, 1))
        model = build_bag_model(
            shape,
            estimator.likelihood_,
            encoder=copy.deepcopy(estimator.encoder),
            pooling=copy.deepcopy(estimator.pooling),
            level=estimator.level,
            context=copy.deepcopy(estimator.context),
            connections=estimator.connections,
            dropout=estimator.dropout,
            settings=PoolingSettings(estimator.attention_width, estimator.heads),
            generator=generator,
        )
    model = model.replace_encoder(nn.Sequential(*first_layers, preprocessing, model.encoder))
    # channels-last convolutions are nearly twice as fast on the CPU
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def make_blank_bags(instance_shape: tuple[int, ...]) -> Bags:
    """Return one bag with one instance of zeros, to build a network whose saved parameters are loaded afterwards."""
    return Bags(np.zeros((1, *instance_shape), dtype=np.float32), np.array([0, 1]))
