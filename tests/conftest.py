"""Shapes in signatures are checked in tests: jaxtyping's hook must be in place before bagwise is imported."""

import pytest
from jaxtyping import install_import_hook

install_import_hook("bagwise", "typecheck.check")

import torch  # noqa: E402 (after the hook)

torch.set_num_threads(1)  # two test processes share two cores


@pytest.fixture(autouse=True)
def _fixed_draws():
    torch.manual_seed(5)
