"""Pooling operators σ, which combine the embeddings of a bag, and the registry of their names."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
