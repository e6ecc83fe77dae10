"""Model of a bag: θ(X) = g( σ( f(x₁), …, f(x_K) ) ).

The encoder f maps each instance to an embedding, the pooling σ combines the instances of a bag regardless of their
order, and the head g maps the pooled value to the scores of the bag. At embedding level the classifier is applied after
σ; at instance level it is applied before σ.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from bagwise.arguments import choose_by_name, describe_value
from bagwise.errors import InputError
from bagwise.nn.connections import CONNECTIONS, LayeredEncoder, check_connection
from bagwise.nn.encoders import ENCODERS, choose_encoder, initialize_weights
from bagwise.nn.pooling.attention import AttendedScores, AttentionPooling
from bagwise.nn.pooling.base import Pooling, PoolingSettings
from bagwise.nn.pooling.registry import POOLINGS
from bagwise.nn.preprocessing import get_encoder_shape
from bagwise.nn.segments import Offsets
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
    """Composition of encoder, pooling and head; the forward pass returns scores and weights.

    Parameters
    ----------
    encoder : nn.Module
        Maps instances of shape (n, …) to embeddings of shape (n, width).
    pooling : Pooling
        Combines the embeddings of each bag into one row.
    head : nn.Module
        Maps pooled rows to scores.
    """

    def __init__(self, encoder: nn.Module, pooling: Pooling, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
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
        values, weights = self.pooling(self.encoder(instances), offsets)
        return Prediction(scores=self.head(values), weights=weights)


def arrange_embedding_level(encoder: nn.Module, pooling: Pooling, classifier: nn.Module) -> BagModel:
    """Build a model that pools embeddings, then classifies the bag.

    Parameters
    ----------
    encoder : nn.Module
        Maps instances to embeddings.
    pooling : Pooling
        Pools the embeddings.
    classifier : nn.Module
        Maps pooled embeddings to scores.

    Returns
    -------
    BagModel
        Model in which the classifier is the head.
    """
    return BagModel(encoder, pooling, head=classifier)


def arrange_instance_level(encoder: nn.Module, pooling: Pooling, classifier: nn.Module) -> BagModel:
    """Build a model that classifies instances, then pools their scores.

    Attention poolings compute the weights from the embeddings and apply them to the scores.
    """
    if isinstance(pooling, AttentionPooling):
        return BagModel(encoder, AttendedScores(pooling, classifier), head=nn.Identity())
    return BagModel(nn.Sequential(encoder, classifier), pooling, head=nn.Identity())


def build_bag_model(
    instance_shape: tuple[int, ...],
    likelihood: Likelihood,
    *,
    encoder: Any,
    pooling: Any,
    level: str,
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
        check_connection(encoder, level, settings.heads)
        encoder_module = LayeredEncoder(math.prod(shape), connection.widths, 0.5 if dropout is None else dropout)
    width = measure_embedding_width(encoder_module, shape)
    pooling_module = build_pooling(pooling, level, width, likelihood, settings)
    pooling_module.check(level, likelihood)
    if level == "embedding":
        pooled_width = pooling_module.pooled_width(width)
        classifier = (connection or partial(nn.Linear, pooled_width))(likelihood.n_scores)
        model = arrange_embedding_level(encoder_module, pooling_module, classifier)
    else:
        classifier = nn.Linear(width, likelihood.n_scores)
        model = arrange_instance_level(encoder_module, pooling_module, classifier)
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
    modes = {part: part.training for part in encoder.modules()}
    encoder.eval()
    try:
        with torch.no_grad():
            embeddings = encoder(torch.zeros(1, *shape))
    except RuntimeError as error:
        raise InputError(f"the encoder cannot be applied to instances of shape {shape}: {error}") from error
    finally:
        for part, mode in modes.items():
            part.training = mode
    if not isinstance(embeddings, Tensor):
        raise InputError(
            f"the encoder must return a tensor of shape (1, width) for one instance, got {type(embeddings).__name__}"
        )
    if embeddings.ndim != 2:
        raise InputError(
            f"the encoder must return a tensor of shape (1, width) for one instance, got {tuple(embeddings.shape)}"
        )
    return embeddings.shape[1]
