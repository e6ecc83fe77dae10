"""Reproduction of the paper's experiments: its published tables, recipes, results and figures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
