"""Packed bags of instances."""

from bagwise.bags.fingerprint import fingerprint
from bagwise.bags.packed import Bags

__all__ = ["Bags", "fingerprint"]
