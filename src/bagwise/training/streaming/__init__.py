"""Bags larger than memory: read piece by piece, with the scores, weights and gradients of the whole."""

from bagwise.training.streaming.budget import Budget
from bagwise.training.streaming.gathering import Gathered
from bagwise.training.streaming.memory import granted
from bagwise.training.streaming.prediction import streamed_prediction
from bagwise.training.streaming.terms import streams

__all__ = ["Budget", "Gathered", "granted", "streamed_prediction", "streams"]
