"""Bags described by one long vector each, and the linear machines that use them."""
