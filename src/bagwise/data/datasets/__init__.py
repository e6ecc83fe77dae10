"""Named data sets: loading, fetching and describing them. Each loader module returns ``Bags`` from one source."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
