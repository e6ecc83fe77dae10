"""Packed bags of instances."""

from bagwise.bags.packed import Bags

__all__ = ["Bags"]
