"""Reports: the summary and HTML page of a run, the page of a comparison, the model card."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
