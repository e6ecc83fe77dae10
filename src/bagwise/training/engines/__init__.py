"""Engines: what turns batches of bags into steps of an optimiser."""

from bagwise.training.engines.choosing import ENGINES, Choice, choose_engine
from bagwise.training.engines.contract import Diverged, Engine, Problem, Sums
from bagwise.training.engines.torch_engine import TorchEngine

__all__ = ["ENGINES", "Choice", "Diverged", "Engine", "Problem", "Sums", "TorchEngine", "choose_engine"]
