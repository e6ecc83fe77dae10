__all__ = [
    "ISR",
    "POOLINGS",
    "AdditivePooling",
    "AttendedScores",
    "Attention",
    "AttentionPooling",
    "BiasedAttention",
    "BiasedGatedAttention",
    "DotProductAttention",
    "Exponents",
    "GatedAttention",
    "LogSumExp",
    "Max",
    "Mean",
    "MeanProbability",
    "NoisyAnd",
    "NoisyOr",
    "OneLayerAttention",
    "Pooled",
    "Pooling",
    "PoolingSettings",
    "ProbabilityPooling",
    "Sum",
    "Terms",
    "Totals",
    "make_rowless_terms",
    "make_uniform_weights",
]

from .additive import AdditivePooling, Exponents, Terms, Totals, make_rowless_terms
from .attention import (
    AttendedScores,
    Attention,
    AttentionPooling,
    BiasedAttention,
    BiasedGatedAttention,
    DotProductAttention,
    GatedAttention,
    OneLayerAttention,
)
from .base import Pooled, Pooling, PoolingSettings, ProbabilityPooling, make_uniform_weights
from .linear import Mean, MeanProbability, Sum
from .maximum import LogSumExp, Max
from .probability import ISR, NoisyAnd, NoisyOr
from .registry import POOLINGS
