"""The model of a bag: θ(X) = g( σ( f(x₁), …, f(x_K) ) ).

f encodes each instance, σ pools a bag whatever the order of its instances, g turns the pooled value into the bag's
score. Instance level and embedding level differ only in where the classifier stands: before σ or after it.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.connections import CONNECTIONS, Layered, check_connection
from bagwise.encoders import ENCODERS, fitting, initialize
from bagwise.errors import InputError
from bagwise.inputs import encoder_shape
from bagwise.likelihoods import Likelihood
from bagwise.names import choose
from bagwise.pooling import POOLINGS, AttendedScores, AttentionPooling, Pooling, Settings
from bagwise.segments import Offsets

LEVELS = ("embedding", "instance")


class Prediction(NamedTuple):
    """What a model says of packed bags."""

    scores: Float[Tensor, "bags scores"]
    weights: Float[Tensor, "instances heads"]


class BagModel(nn.Module):
    """Encoder, pooling and head; always both the scores and the weights."""

    def __init__(self, encoder: nn.Module, pooling: Pooling, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.head = head

    def forward(self, instances: Shaped[Tensor, "instances ..."], offsets: Offsets) -> Prediction:
        values, weights = self.pooling(self.encoder(instances), offsets)
        return Prediction(self.head(values), weights)


def embedding_level(encoder: nn.Module, pooling: Pooling, classifier: nn.Module) -> BagModel:
    """Pool embeddings, then classify the bag."""
    return BagModel(encoder, pooling, head=classifier)


def instance_level(encoder: nn.Module, pooling: Pooling, classifier: nn.Module) -> BagModel:
    """Classify instances, then pool their scores; attention looks at the embeddings and averages the scores."""
    if isinstance(pooling, AttentionPooling):
        return BagModel(encoder, AttendedScores(pooling, classifier), head=nn.Identity())
    return BagModel(nn.Sequential(encoder, classifier), pooling, head=nn.Identity())


def assemble(
    instance_shape: tuple[int, ...],
    likelihood: Likelihood,
    *,
    encoder: Any,
    pooling: Any,
    level: str,
    connections: str | None = None,
    dropout: float | None,
    settings: Settings,
    generator: torch.Generator,
) -> BagModel:
    """A model from names or modules; what is named is initialised from the generator, a module keeps its weights."""
    level = choose(level, {name: name for name in LEVELS}, "level")
    shape = encoder_shape(instance_shape)
    connection = None if connections is None else choose(connections, CONNECTIONS, "connections")
    if connection is None:
        encoder_module = build_encoder(encoder, shape, dropout)
    else:
        check_connection(encoder, level, settings.heads)
        encoder_module = Layered(math.prod(shape), connection.widths, 0.5 if dropout is None else dropout)
    width = embedding_width(encoder_module, shape)
    pooling_module = build_pooling(pooling, level, width, likelihood, settings)
    pooling_module.check(level, likelihood)
    if level == "embedding":
        pooled = pooling_module.pooled_width(width)
        classifier = (connection or partial(nn.Linear, pooled))(likelihood.n_scores)
        model = embedding_level(encoder_module, pooling_module, classifier)
    else:
        classifier = nn.Linear(width, likelihood.n_scores)
        model = instance_level(encoder_module, pooling_module, classifier)
    for part, given in ((encoder_module, encoder), (pooling_module, pooling), (classifier, "")):
        if isinstance(given, str):
            initialize(part, generator)
    return model


def build_encoder(encoder: Any, shape: tuple[int, ...], dropout: float | None) -> nn.Module:
    """The encoder itself, or the one of that name; ``dropout=None`` leaves the encoder's own."""
    if isinstance(encoder, nn.Module):
        return encoder
    if not isinstance(encoder, str):
        raise InputError(f"encoder is a {type(encoder).__name__}; give a name or a module")
    name = fitting(shape) if encoder == "auto" else encoder
    build = choose(name, ENCODERS, "encoder")
    return build(shape) if dropout is None else build(shape, dropout=dropout)


def build_pooling(pooling: Any, level: str, width: int, likelihood: Likelihood, settings: Settings) -> Pooling:
    """The pooling itself, or the one of that name, for the level and the likelihood."""
    if isinstance(pooling, Pooling):
        return pooling
    if not isinstance(pooling, str):
        raise InputError(f"pooling is a {type(pooling).__name__}; give a name or a bagwise.pooling.Pooling")
    found = choose(pooling, POOLINGS, "pooling")
    if level == "embedding":
        return found.for_embeddings(width, settings)
    return found.for_scores(width, likelihood, settings)


def embedding_width(encoder: nn.Module, shape: tuple[int, ...]) -> int:
    """Columns of the embeddings, found by encoding one instance of zeros."""
    modes = {part: part.training for part in encoder.modules()}
    encoder.eval()
    try:
        with torch.no_grad():
            embeddings = encoder(torch.zeros(1, *shape))
    except RuntimeError as error:
        raise InputError(f"the encoder cannot read instances of shape {shape}: {error}") from error
    finally:
        for part, mode in modes.items():
            part.training = mode
    if not isinstance(embeddings, Tensor):
        raise InputError("the encoder gives no tensor; it must give (1, width)")
    if embeddings.ndim != 2:
        raise InputError(f"the encoder gives shape {tuple(embeddings.shape)} for one instance; it must give (1, width)")
    return embeddings.shape[1]
