"""Small problems of training, to be solved by one engine and the other."""

import numpy as np
import torch
from torch import nn

from bagwise.bags import Bags
from bagwise.connections import CONNECTIONS
from bagwise.dropout import Dropout
from bagwise.encoders import mlp
from bagwise.inputs import Prepare, scaling
from bagwise.likelihoods import for_classes
from bagwise.models import assemble
from bagwise.places import Place, set_place
from bagwise.pooling import Settings
from bagwise.training import Task, TrainingSettings
from bagwise.training.engines import Problem

N_BAGS, N_FEATURES = 12, 5
POOLINGS = ["mean", "max", "attention", "gated attention"]
LEVELS = ["embedding", "instance"]
OPTIMIZERS = ["sgd", "nesterov", "adam"]
CLASSES = [2, 3]


def bags(seed=0):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 6, N_BAGS)
    rows = generator.normal(2.0, 3.0, (sizes.sum(), N_FEATURES))
    return Bags(rows, np.append(0, sizes.cumsum()))


def images(shape, seed=0):
    """Bags of bytes, with a constant border as digits have it, where neighbouring windows give the same."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 6, N_BAGS)
    pixels = generator.integers(0, 256, (sizes.sum(), *shape)).astype(np.uint8)
    pixels[:, :5] = 0
    return Bags(pixels, np.append(0, sizes.cumsum()))


def stages(*convolutions):
    """Convolutions, given by (channels, maps, window), each with max pooling and ReLU."""
    return [part for each in convolutions for part in (nn.Conv2d(*each), nn.MaxPool2d(2), nn.ReLU())]


CNNS = {  # image shape, and an encoder of it
    "one stage": ((9, 9), lambda: nn.Sequential(*stages((1, 3, 4)), nn.Flatten(), Dropout(0.2))),
    "two stages": (
        (12, 13, 3),
        lambda: nn.Sequential(
            *stages((3, 5, 3), (5, 9, 2)), nn.Flatten(), nn.Linear(36, 11), nn.ReLU(), nn.Linear(11, 7), nn.ReLU()
        ),
    ),
    "many maps": (
        (12, 12),
        lambda: nn.Sequential(
            *stages((1, 18, 5), (18, 50, 3)), nn.Flatten(), nn.Linear(50, 8), nn.ReLU(), Dropout(0.4)
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
    """A model of its own for every call, the same for the same arguments."""
    shape, build = CNNS.get(encoder, ((N_FEATURES,), None)) if isinstance(encoder, str) else ((N_FEATURES,), None)
    given, likelihood = images(shape) if build else bags(), for_classes(n_classes)
    if connections is not None:
        likelihood = CONNECTIONS[connections].likelihood(likelihood)
    torch.manual_seed(seed)
    if encoder == "small":
        encoder = mlp((N_FEATURES,), (16, 12, 9), dropout)
    model = assemble(
        shape,
        likelihood,
        encoder=build() if build else encoder,
        pooling=pooling,
        level=level,
        connections=connections,
        dropout=dropout,
        settings=Settings(attention_width=4),
        generator=torch.Generator().manual_seed(seed),
    )
    prepare, before = Prepare(shape, scaling(given.instances, True)), [] if augmentation is None else [augmentation]
    model.encoder = torch.nn.Sequential(*before, prepare, model.encoder)
    model = model.to(dtype).to(memory_format=torch.channels_last)
    generator = np.random.default_rng(seed)
    importance = generator.uniform(0.5, 2.0, N_BAGS).astype(np.float64 if dtype == torch.float64 else np.float32)
    task = Task(given, generator.integers(0, n_classes, N_BAGS), importance)
    defaults = {"weight_decay": 0.01}
    chosen = TrainingSettings(optimizer=optimizer, **{**defaults, **settings})
    optimizer = chosen.build_optimizer(model.parameters())
    return Problem(model, likelihood, task, optimizer, 7, torch.device("cpu"), most_instances=chosen.most_instances)


def batches(n_steps, size=1, seed=0):
    """Bags in a random order, over and over."""
    generator = np.random.default_rng(seed)
    return [generator.permutation(N_BAGS)[:size] for _ in range(n_steps)]


def weights(problem):
    return torch.cat([parameter.detach().double().ravel() for parameter in problem.model.parameters()])


BATCH, STEP = np.array([2, 7, 4]), 11


def look(given):
    """The room of the fused engine after a step that changes nothing, and the number of rows of its batch."""
    from bagwise.training.fused.engine import FusedEngine

    engine = FusedEngine(given)
    engine.run([BATCH], STEP, 0.0)
    return engine.room, int(given.task.bags.sizes[BATCH].sum())


def with_torch(given, module, *inputs):
    """What a part of the model gives in training mode at the same step."""
    given.model.train()
    set_place(given.model, Place(given.seed, STEP))
    with torch.no_grad():
        return module(*inputs)


def packed(given):
    chosen = given.task.bags[BATCH]
    return torch.from_numpy(np.array(chosen.instances)), torch.from_numpy(np.array(chosen.offsets))
