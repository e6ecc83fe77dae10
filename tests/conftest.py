"""Shapes in signatures are checked in tests: jaxtyping's hook must be in place before bagwise is imported."""

from jaxtyping import install_import_hook

install_import_hook("bagwise", "beartype.beartype")
