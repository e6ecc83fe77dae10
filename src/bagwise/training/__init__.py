"""Training: the loop, its settings, its checkpoints, and the one way a model is run over bags."""

from bagwise.training.checkpoint import Checkpoint
from bagwise.training.history import Epoch
from bagwise.training.inference import infer
from bagwise.training.loop import Trainer, TrainingStopped
from bagwise.training.progress import Progress, ProgressBar
from bagwise.training.settings import TrainingSettings
from bagwise.training.tasks import Task

__all__ = [
    "Checkpoint",
    "Epoch",
    "Progress",
    "ProgressBar",
    "Task",
    "Trainer",
    "TrainingSettings",
    "TrainingStopped",
    "infer",
]
