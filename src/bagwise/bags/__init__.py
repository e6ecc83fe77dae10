"""Packed bags of instances, their checks, their folder on disk, and how they are split."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
