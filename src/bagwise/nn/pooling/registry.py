"""Registry of poolings: their names in Python, on the command line and in configuration files."""

from bagwise.nn.pooling.attention import (
    Attention,
    BiasedAttention,
    BiasedGatedAttention,
    DotProductAttention,
    GatedAttention,
    OneLayerAttention,
)
from bagwise.nn.pooling.base import Pooling
from bagwise.nn.pooling.linear import Mean, Sum
from bagwise.nn.pooling.maximum import LogSumExp, Max
from bagwise.nn.pooling.probability import ISR, NoisyAnd, NoisyOr

POOLINGS: dict[str, type[Pooling]] = {
    "max": Max,
    "mean": Mean,
    "sum": Sum,
    "log-sum-exp": LogSumExp,
    "isr": ISR,
    "noisy-or": NoisyOr,
    "noisy-and": NoisyAnd,
    "attention": Attention,
    "gated attention": GatedAttention,
    "biased attention": BiasedAttention,
    "biased gated attention": BiasedGatedAttention,
    "one-layer attention": OneLayerAttention,
    "dot-product attention": DotProductAttention,
}
