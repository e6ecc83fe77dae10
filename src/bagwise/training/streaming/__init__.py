"""Bags larger than memory, read in pieces with the exact scores, weights and gradients of the whole bag."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
