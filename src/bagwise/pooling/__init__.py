"""Poolings σ: one operator a file, and the one table of their names."""

from bagwise.pooling.additive import AdditivePooling, Terms, Totals
from bagwise.pooling.attending import AttendedScores, AttentionPooling
from bagwise.pooling.attention import Attention
from bagwise.pooling.biased_attention import BiasedAttention
from bagwise.pooling.biased_gated_attention import BiasedGatedAttention
from bagwise.pooling.contract import Pooled, Pooling, ProbabilityPooling, Settings
from bagwise.pooling.dot_product_attention import DotProductAttention
from bagwise.pooling.gated_attention import GatedAttention
from bagwise.pooling.isr import ISR
from bagwise.pooling.log_sum_exp import LogSumExp
from bagwise.pooling.max import Max
from bagwise.pooling.mean import Mean, MeanProbability
from bagwise.pooling.noisy_and import NoisyAnd
from bagwise.pooling.noisy_or import NoisyOr
from bagwise.pooling.one_layer_attention import OneLayerAttention
from bagwise.pooling.sum import Sum

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
    "ProbabilityPooling",
    "Settings",
    "Sum",
    "Terms",
    "Totals",
]
