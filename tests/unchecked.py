"""Calls as a user makes them, who has no checker of signatures: a wrong type must meet a message of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import config


@contextmanager
def unchecked() -> Iterator[None]:
    """Within the block nothing is checked but what the code checks itself."""
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", False)
