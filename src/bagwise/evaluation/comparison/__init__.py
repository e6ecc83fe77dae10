"""Comparison of methods over a protocol: one folder per comparison, one file per fit."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
