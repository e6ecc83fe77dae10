"""Runs: one training, one folder."""

from bagwise.runs.environment import describe_environment
from bagwise.runs.execute import execute, prediction_rows
from bagwise.runs.run import Run, write_table

__all__ = ["Run", "describe_environment", "execute", "prediction_rows", "write_table"]
