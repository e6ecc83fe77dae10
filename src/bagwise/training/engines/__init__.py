"""Engines, which perform the optimizer steps of training, and the choice between them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
