"""Parallel execution: worker processes, a Dask cluster, a shared folder, and the ranks of distributed training."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
