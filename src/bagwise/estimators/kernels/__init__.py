"""Kernels between bags, and the support vector machines that use them."""
