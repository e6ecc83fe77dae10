__all__ = [
    "KIND",
    "PARAMETERS",
    "REPORT",
    "ModelPredictions",
    "OpenRun",
    "Run",
    "adopt_weights",
    "assist_run",
    "check_onnx_packages",
    "compute_weight_spread",
    "execute_run",
    "find_other_seeds",
    "format_label",
    "is_model_folder",
    "load_model",
    "make_empty_rows",
    "make_group_rows",
    "make_prediction_rows",
    "make_weight_rows",
    "name_method",
    "read_label",
    "write_onnx",
]

from .adopted_weights import adopt_weights
from .execution import assist_run, execute_run
from .model_predictions import ModelPredictions
from .onnx_graph import check_onnx_packages, write_onnx
from .open_run import OpenRun, compute_weight_spread, find_other_seeds
from .predictions import (
    format_label,
    make_empty_rows,
    make_group_rows,
    make_prediction_rows,
    make_weight_rows,
    read_label,
)
from .run import KIND, PARAMETERS, REPORT, Run, is_model_folder, load_model, name_method
