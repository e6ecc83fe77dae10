"""The fused engine: kernels compiled by Numba that run many steps of training in one call."""
