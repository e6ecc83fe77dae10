__all__ = [
    "ROWS_AT_ONCE",
    "Checkpoint",
    "Epoch",
    "FinishedPart",
    "InferenceResult",
    "PartProgress",
    "Trainer",
    "TrainingProgress",
    "TrainingProgressBar",
    "TrainingSettings",
    "TrainingStopped",
    "TrainingTask",
    "array_to_tensor",
    "average_histories",
    "bags_to_tensors",
    "describe_environment",
    "group_by_rows",
    "list_devices",
    "resolve_device",
    "run_inference",
    "use_one_thread",
]

from .batches import TrainingTask, array_to_tensor, bags_to_tensors, group_by_rows
from .checkpoint import Checkpoint, FinishedPart
from .devices import list_devices, resolve_device, use_one_thread
from .environment import describe_environment
from .history import Epoch, average_histories
from .inference import ROWS_AT_ONCE, InferenceResult, run_inference
from .loop import Trainer, TrainingStopped
from .progress import PartProgress, TrainingProgress, TrainingProgressBar
from .settings import TrainingSettings
