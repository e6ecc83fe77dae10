"""Files: atomic writing, locks, manifests, csv, JSON and npy files, and limits on declared sizes and memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
