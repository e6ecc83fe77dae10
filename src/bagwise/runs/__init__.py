"""Runs: one training, one folder."""

from bagwise.runs.assisting import assist
from bagwise.runs.environment import describe_environment
from bagwise.runs.execution import execute
from bagwise.runs.parts import known_labels
from bagwise.runs.rows import empty_rows, group_rows, prediction_rows, weight_rows
from bagwise.runs.run import REPORT, Run, write_table
from bagwise.runs.trained import load_model

__all__ = [
    "REPORT",
    "Run",
    "assist",
    "describe_environment",
    "empty_rows",
    "execute",
    "group_rows",
    "known_labels",
    "load_model",
    "prediction_rows",
    "weight_rows",
    "write_table",
]
