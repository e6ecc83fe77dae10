"""Model of a bag: θ(X) = g( σ( f(x₁), …, f(x_K) ) ), or with a context c: θ(X) = g( σ( c( f(x₁), …, f(x_K) ) ) ).

The encoder f maps each instance to an embedding, the optional context c lets the instances of a bag see each other, the
pooling σ combines the instances of a bag regardless of their order, and the head g maps the pooled value to the scores
of the bag. At embedding level the classifier is applied after σ; at instance level it is applied before σ.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.arguments import choose_by_name, describe_value
from bagwise.errors import InputError
from bagwise.nn.connections import CONNECTIONS, LayeredEncoder, check_connection
from bagwise.nn.context import Context, ScoresInContext
from bagwise.nn.encoders import ENCODERS, choose_encoder, initialize_weights
from bagwise.nn.pooling.additive import AdditivePooling
from bagwise.nn.pooling.attention import AttendedScores, AttentionPooling
from bagwise.nn.pooling.base import Pooling, PoolingSettings
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.nn.preprocessing import get_encoder_shape
from bagwise.nn.segments import Offsets, Rows
from bagwise.targets import Likelihood

LEVELS = ("embedding", "instance")


class Prediction(NamedTuple):
    """Result of a model for packed bags.

    Attributes
    ----------
    scores : Tensor of shape (bags, scores)
        Scores of the bags, before the link function.
    weights : Tensor of shape (instances, heads)
        Weights of the instances; each column sums to one within each bag.
    """

    scores: Float[Tensor, "bags scores"]
    weights: Float[Tensor, "instances heads"]


class BagModel(nn.Module):
    """Composition of encoder, optional context, pooling and head; the forward pass returns scores and weights.

    Code outside this class does not call the parts before the head one by one, because a context needs whole bags: it
    uses ``embed``, and asks the model which computations it supports.

    Parameters
    ----------
    encoder : nn.Module
        Maps instances of shape (n, …) to embeddings of shape (n, width).
    pooling : Pooling
        Combines the embeddings of each bag into one row.
    head : nn.Module
        Maps pooled rows to scores.
    context : Context or None, default=None
        Lets the instances of a bag see each other before they are pooled; None for no context.
    """

    def __init__(
        self, encoder: nn.Module, pooling: Pooling, head: nn.Module, *, context: Context | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context
        self.pooling = pooling
        self.head = head

    def forward(self, instances: Shaped[Tensor, "instances ..."], offsets: Offsets) -> Prediction:
        """Compute the scores of packed bags and the weights of their instances.

        Parameters
        ----------
        instances : Tensor of shape (instances, …)
            Instances of all bags, concatenated.
        offsets : Tensor of shape (bags + 1,)
            Boundaries of the bags.

        Returns
        -------
        Prediction
            Scores of the bags and weights of the instances.
        """
        values, weights = self.pooling(self.embed(instances, offsets), offsets)
        return Prediction(scores=self.head(values), weights=weights)

    def embed(self, instances: Shaped[Tensor, "instances ..."], offsets: Offsets) -> Rows:
        """Compute the embeddings that are pooled; no other code computes them.

        Parameters
        ----------
        instances : Tensor of shape (instances, …)
            Instances of all bags, concatenated.
        offsets : Tensor of shape (bags + 1,)
            Boundaries of the bags. Pieces of bags give the embeddings of whole bags only if
            ``find_streaming_obstacle`` finds none.

        Returns
        -------
        Tensor of shape (instances, width)
            Embeddings after the context; at instance level without attention, scores of the instances.
        """
        embeddings = self.encoder(instances)
        return embeddings if self.context is None else self.context(embeddings, offsets)

    @property
    def mixes_instances(self) -> bool:
        """Whether the embedding of an instance may depend on the other instances of its bag."""
        return self.context is not None

    def find_streaming_obstacle(self) -> str:
        """Return why a bag cannot be read in pieces, or an empty string.

        Returns
        -------
        str
            Reason, as part of a sentence.
        """
        if self.context is not None and not self.context.supports_streaming:
            return f"the context {self.context.title} needs all instances of a bag together"
        if not isinstance(self.pooling, AdditivePooling):
            return f"the pooling {type(self.pooling).__name__} needs all instances of a bag together"
        return ""

    def get_parts_before_head(self) -> dict[str, nn.Module]:
        """Return the parts of the model that are applied to instances, by name and in the order of computation.

        Returns
        -------
        dict of str to nn.Module
            Encoder, context if there is one, and pooling.
        """
        parts = {"encoder": self.encoder, "context": self.context, "pooling": self.pooling}
        return {name: part for name, part in parts.items() if part is not None}

    def replace_encoder(self, encoder: nn.Module) -> "BagModel":
        """Return a model with another encoder that shares all other parts with this one.

        Parameters
        ----------
        encoder : nn.Module
            Encoder of the new model.

        Returns
        -------
        BagModel
            The new model.
        """
        return BagModel(encoder, self.pooling, self.head, context=self.context)


def arrange_embedding_level(
    encoder: nn.Module, pooling: Pooling, classifier: nn.Module, context: Context | None = None
) -> BagModel:
    """Build a model that pools embeddings, then classifies the bag.

    Parameters
    ----------
    encoder : nn.Module
        Maps instances to embeddings.
    pooling : Pooling
        Pools the embeddings.
    classifier : nn.Module
        Maps pooled embeddings to scores.
    context : Context or None, default=None
        Context of the embeddings; None for no context.

    Returns
    -------
    BagModel
        Model in which the classifier is the head.
    """
    return BagModel(encoder, pooling, classifier, context=context)


def arrange_instance_level(
    encoder: nn.Module, pooling: Pooling, classifier: nn.Module, context: Context | None = None
) -> BagModel:
    """Build a model that classifies instances, then pools their scores.

    Attention poolings compute the weights from the embeddings and apply them to the scores.
    """
    if isinstance(pooling, AttentionPooling):
        return BagModel(encoder, AttendedScores(pooling, classifier), nn.Identity(), context=context)
    if context is None:
        return BagModel(nn.Sequential(encoder, classifier), pooling, nn.Identity())
    return BagModel(encoder, pooling, nn.Identity(), context=ScoresInContext(context, classifier))


def build_bag_model(
    instance_shape: tuple[int, ...],
    likelihood: Likelihood,
    *,
    encoder: Any,
    pooling: Any,
    level: str,
    context: Any = None,
    connections: str | None = None,
    dropout: float | None,
    settings: PoolingSettings,
    generator: torch.Generator,
) -> BagModel:
    """Build a model from names or modules.

    Parameters
    ----------
    instance_shape : tuple of int
        Shape of one stored instance.
    likelihood : Likelihood
        Likelihood of the scores; determines their number.
    encoder : str or nn.Module
        Name of an encoder, "auto" (chosen by the shape of the instances), or a module that maps instances of shape
        (n, …) to embeddings of shape (n, width).
    pooling : str or Pooling
        Name of a pooling, or a pooling module.
    level : {"embedding", "instance"}
        Whether embeddings or instance scores are pooled.
    context : Context or None, default=None
        Context of the embeddings; None for no context.
    connections : {"deep supervision", "residual"} or None, default=None
        Connections from the layers of the encoder to the head; None for no connections.
    dropout : float or None
        Dropout probability; None for the default of the encoder.
    settings : PoolingSettings
        Sizes of a pooling that is built by name.
    generator : torch.Generator
        Random number generator that initialises the classifier and all parts built by name. Modules that are passed in
        keep their weights.

    Returns
    -------
    BagModel
        Initialised model.

    Raises
    ------
    InputError
        If a name is unknown, if the encoder cannot be applied to the instances, or if the parts cannot be combined.
    """
    level = choose_by_name(level, {name: name for name in LEVELS}, "level")
    shape = get_encoder_shape(instance_shape)
    connection = None if connections is None else choose_by_name(connections, CONNECTIONS, "connections")
    if connection is None:
        encoder_module = build_encoder(encoder, shape, dropout)
    else:
        check_connection(encoder, level, settings.heads, context)
        encoder_module = LayeredEncoder(math.prod(shape), connection.widths, 0.5 if dropout is None else dropout)
    width = measure_embedding_width(encoder_module, shape)
    check_context(context, width)
    pooling_module = build_pooling(pooling, level, width, likelihood, settings)
    pooling_module.check(level, likelihood)
    if level == "embedding":
        pooled_width = pooling_module.pooled_width(width)
        classifier = (connection or partial(nn.Linear, pooled_width))(likelihood.n_scores)
        model = arrange_embedding_level(encoder_module, pooling_module, classifier, context)
    else:
        classifier = nn.Linear(width, likelihood.n_scores)
        model = arrange_instance_level(encoder_module, pooling_module, classifier, context)
    if isinstance(encoder, str):
        initialize_weights(encoder_module, generator)
    if isinstance(pooling, str):
        initialize_weights(pooling_module, generator)
    initialize_weights(classifier, generator)
    return model


def build_encoder(encoder: Any, shape: tuple[int, ...], dropout: float | None) -> nn.Module:
    """Return ``encoder`` if it is a module, else build it by name; ``dropout=None`` means the encoder's default."""
    if isinstance(encoder, nn.Module):
        return encoder
    if not isinstance(encoder, str):
        raise InputError(f"encoder must be a name or a torch.nn.Module, got {describe_value(encoder)}")
    name = choose_encoder(shape) if encoder == "auto" else encoder
    build = choose_by_name(name, ENCODERS, "encoder")
    return build(shape) if dropout is None else build(shape, dropout=dropout)


def build_pooling(pooling: Any, level: str, width: int, likelihood: Likelihood, settings: PoolingSettings) -> Pooling:
    """Return ``pooling`` if it is a module, else build it by name for the level and the likelihood."""
    if isinstance(pooling, Pooling):
        return pooling
    if not isinstance(pooling, str):
        raise InputError(f"pooling must be a name or a bagwise.nn.pooling.Pooling, got {describe_value(pooling)}")
    pooling_class = choose_by_name(pooling, POOLINGS, "pooling")
    if level == "embedding":
        return pooling_class.for_embeddings(width, settings)
    return pooling_class.for_scores(width, likelihood, settings)


def measure_embedding_width(encoder: nn.Module, shape: tuple[int, ...]) -> int:
    """Return the number of columns of the embeddings, measured by encoding one instance of zeros."""
    try:
        with _use_for_trial(encoder):
            embeddings = encoder(torch.zeros(1, *shape))
    except RuntimeError as error:
        raise InputError(f"the encoder cannot be applied to instances of shape {shape}: {error}") from error
    if not isinstance(embeddings, Tensor):
        raise InputError(
            f"the encoder must return a tensor of shape (1, width) for one instance, got {type(embeddings).__name__}"
        )
    if embeddings.ndim != 2:
        raise InputError(
            f"the encoder must return a tensor of shape (1, width) for one instance, got {tuple(embeddings.shape)}"
        )
    return embeddings.shape[1]


def check_context(context: Any, width: int) -> None:
    """Raise ``InputError`` if a context is not a ``Context`` or None, or changes the shape of two bags of zeros."""
    if context is None:
        return
    if not isinstance(context, Context):
        raise InputError(f"context must be None or a bagwise.nn.Context, got {describe_value(context)}")
    embeddings = torch.zeros(3, width)
    try:
        with _use_for_trial(context):
            found = context(embeddings, torch.tensor([0, 2, 3]))
    except RuntimeError as error:
        raise InputError(
            f"the context {context.title} cannot be applied to embeddings of width {width}: {error}"
        ) from error
    got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
    if got != embeddings.shape:
        raise InputError(
            f"the context {context.title} must keep the shape of the embeddings, {tuple(embeddings.shape)}, got {got}"
        )


@contextmanager
def _use_for_trial(module: nn.Module) -> Iterator[None]:
    """Set a module to evaluation mode, without gradients, and restore the modes of all its parts afterwards."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode
