__all__ = [
    "ENGINES",
    "DivergedError",
    "Engine",
    "EngineChoice",
    "BatchSums",
    "FusedEngine",
    "TorchEngine",
    "TrainingProblem",
    "choose_engine",
]

from .base import DivergedError, Engine, BatchSums, TrainingProblem
from .choice import ENGINES, EngineChoice, choose_engine
from .fused.engine import FusedEngine
from .torch_engine import TorchEngine
