"""Models that travel: a trained model as a folder with its card, and as one ONNX graph that runs without torch."""

from bagwise.export.exporting import export_run
from bagwise.export.onnx_graph import write_onnx

__all__ = ["export_run", "write_onnx"]
