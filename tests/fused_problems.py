"""Small training problems that the fused engine and the torch engine both solve."""

import numpy as np
import torch
from torch import nn

from bagwise.bags.bags import Bags
from bagwise.nn.bag_model import build_bag_model
from bagwise.nn.connections import CONNECTIONS
from bagwise.nn.dropout import Dropout, StreamPosition, set_stream_position
from bagwise.nn.encoders import mlp
from bagwise.nn.pooling.base import PoolingSettings
from bagwise.nn.preprocessing import Preprocessing, fit_scaling
from bagwise.targets.class_likelihoods import make_likelihood
from bagwise.training.batches import TrainingTask
from bagwise.training.engines.base import TrainingProblem
from bagwise.training.settings import TrainingSettings

N_BAGS, N_FEATURES = 12, 5
POOLINGS = ["mean", "max", "attention", "gated attention"]
LEVELS = ["embedding", "instance"]
OPTIMIZERS = ["sgd", "nesterov", "adam"]
CLASSES = [2, 3]

BATCH, STEP = np.array([2, 7, 4]), 11  # the batch and the step of ``run_one_step``


def make_bags(seed=0):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 6, N_BAGS)
    rows = generator.normal(2.0, 3.0, (sizes.sum(), N_FEATURES))
    return Bags(rows, np.append(0, sizes.cumsum()))


def make_image_bags(shape, seed=0):
    """Make bags of uint8 images with a constant border, like digits, where neighbouring windows have equal outputs."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 6, N_BAGS)
    pixels = generator.integers(0, 256, (sizes.sum(), *shape)).astype(np.uint8)
    pixels[:, :5] = 0
    return Bags(pixels, np.append(0, sizes.cumsum()))


def make_stages(*convolutions):
    """Make convolutions, given by (channels, maps, kernel), each followed by max pooling and ReLU."""
    return [part for each in convolutions for part in (nn.Conv2d(*each), nn.MaxPool2d(2), nn.ReLU())]


CNNS = {  # image shape, and an encoder for it
    "one stage": ((9, 9), lambda: nn.Sequential(*make_stages((1, 3, 4)), nn.Flatten(), Dropout(0.2))),
    "two stages": (
        (12, 13, 3),
        lambda: nn.Sequential(
            *make_stages((3, 5, 3), (5, 9, 2)), nn.Flatten(), nn.Linear(36, 11), nn.ReLU(), nn.Linear(11, 7), nn.ReLU()
        ),
    ),
    "many maps": (
        (12, 12),
        lambda: nn.Sequential(
            *make_stages((1, 18, 5), (18, 50, 3)), nn.Flatten(), nn.Linear(50, 8), nn.ReLU(), Dropout(0.4)
        ),
    ),
}


def problem(
    pooling="attention",
    level="embedding",
    n_classes=2,
    optimizer="adam",
    connections=None,
    dropout=0.5,
    encoder="small",
    dtype=torch.float64,
    seed=3,
    augmentation=None,
    **settings,
):
    """Make a training problem with a new model, which is the same for the same arguments."""
    shape, build = CNNS.get(encoder, ((N_FEATURES,), None)) if isinstance(encoder, str) else ((N_FEATURES,), None)
    bags, likelihood = make_image_bags(shape) if build else make_bags(), make_likelihood(n_classes)
    if connections is not None:
        likelihood = CONNECTIONS[connections].likelihood(likelihood)
    torch.manual_seed(seed)
    if encoder == "small":
        encoder = mlp((N_FEATURES,), (16, 12, 9), dropout)
    model = build_bag_model(
        shape,
        likelihood,
        encoder=build() if build else encoder,
        pooling=pooling,
        level=level,
        connections=connections,
        dropout=dropout,
        settings=PoolingSettings(attention_width=4),
        generator=torch.Generator().manual_seed(seed),
    )
    augmentations = [] if augmentation is None else [augmentation]
    preprocessing = Preprocessing(shape, fit_scaling(bags, "standard"))
    model.encoder = torch.nn.Sequential(*augmentations, preprocessing, model.encoder)
    model = model.to(dtype).to(memory_format=torch.channels_last)
    generator = np.random.default_rng(seed)
    importance = generator.uniform(0.5, 2.0, N_BAGS).astype(np.float64 if dtype == torch.float64 else np.float32)
    task = TrainingTask(bags, generator.integers(0, n_classes, N_BAGS), importance)
    training = TrainingSettings(optimizer=optimizer, **{"weight_decay": 0.01, **settings})
    return TrainingProblem(
        model=model,
        likelihood=likelihood,
        task=task,
        optimizer=training.build_optimizer(model.parameters()),
        seed=7,
        device=torch.device("cpu"),
        most_instances=training.most_instances,
    )


def make_batches(n_steps, size=1, seed=0):
    """Make batches of random bags."""
    generator = np.random.default_rng(seed)
    return [generator.permutation(N_BAGS)[:size] for _ in range(n_steps)]


def get_weights(given):
    """Return all parameters of a problem's model as one vector."""
    return torch.cat([parameter.detach().double().ravel() for parameter in given.model.parameters()])


def run_one_step(given):
    """Run the fused engine on ``BATCH`` with a learning rate of 0; return its workspace and the rows of the batch."""
    from bagwise.training.engines.fused.engine import FusedEngine

    engine = FusedEngine(given)
    engine.run([BATCH], STEP, 0.0)
    return engine.workspace, int(given.task.bags.sizes[BATCH].sum())


def run_module(given, module, *inputs):
    """Return the output of a part of the model in training mode at the same step."""
    given.model.train()
    set_stream_position(given.model, StreamPosition(given.seed, STEP))
    with torch.no_grad():
        return module(*inputs)


def get_batch_tensors(given):
    """Return the instances and offsets of ``BATCH``."""
    bags = given.task.bags[BATCH]
    return torch.from_numpy(np.array(bags.instances)), torch.from_numpy(np.array(bags.offsets))


def make_layout(given, shape=(N_FEATURES,)):
    """Return the fused engine's layout of a problem's model."""
    from bagwise.training.engines.fused.compatibility import decompose_model
    from bagwise.training.engines.fused.model_tables import Layout

    return Layout(decompose_model(given.model, given.likelihood), given.model, given.likelihood, shape)
