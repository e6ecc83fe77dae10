"""Small problems of training, to be solved by one engine and the other."""

import numpy as np
import torch

from bagwise.bags import Bags
from bagwise.connections import CONNECTIONS
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
    **settings,
):
    """A model of its own for every call, the same for the same arguments."""
    given, likelihood = bags(), for_classes(n_classes)
    if connections is not None:
        likelihood = CONNECTIONS[connections].likelihood(likelihood)
    torch.manual_seed(seed)
    model = assemble(
        (N_FEATURES,),
        likelihood,
        encoder=mlp((N_FEATURES,), (16, 12, 9), dropout) if encoder == "small" else encoder,
        pooling=pooling,
        level=level,
        connections=connections,
        dropout=dropout,
        settings=Settings(attention_width=4),
        generator=torch.Generator().manual_seed(seed),
    )
    model.encoder = torch.nn.Sequential(Prepare((N_FEATURES,), scaling(given.instances, True)), model.encoder)
    model = model.to(dtype)
    generator = np.random.default_rng(seed)
    importance = generator.uniform(0.5, 2.0, N_BAGS).astype(np.float64 if dtype == torch.float64 else np.float32)
    task = Task(given, generator.integers(0, n_classes, N_BAGS), importance)
    defaults = {"weight_decay": 0.01}
    chosen = TrainingSettings(optimizer=optimizer, **{**defaults, **settings})
    return Problem(model, likelihood, task, chosen.build_optimizer(model.parameters()), 7, torch.device("cpu"))


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
