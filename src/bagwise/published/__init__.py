"""Weights that others have published, read as models of this library: CLAM and AttentionDeepMIL."""

from bagwise.published.adopting import adopt

__all__ = ["adopt"]
