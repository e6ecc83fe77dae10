__all__ = [
    "ENGINES",
    "BatchSums",
    "DivergedError",
    "Engine",
    "EngineChoice",
    "FusedEngine",
    "TorchEngine",
    "TrainingProblem",
    "choose_engine",
]

from .base import BatchSums, DivergedError, Engine, TrainingProblem
from .choice import ENGINES, EngineChoice, choose_engine
from .fused.engine import FusedEngine
from .torch_engine import TorchEngine
