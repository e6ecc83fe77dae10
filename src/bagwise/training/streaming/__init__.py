"""Streaming of bags that do not fit into memory: exact scores, weights and gradients from pieces of a bag."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
