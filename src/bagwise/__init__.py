"""Attention-based deep multiple instance learning: bags in, labels and the instances that decided out."""

__version__ = "0.1.0"
