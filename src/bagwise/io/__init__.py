"""Files: atomic writing, locking, manifests, csv and npy files, limits on declared sizes and memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
