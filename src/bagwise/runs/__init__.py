"""Runs: training any method into a run folder, reading it again, predictions, ONNX export, adopted weights."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
