"""Fixtures of the viewer tests: a session of two models on the same images, its server, and an HTTP client."""

import httpx
import pytest

from viewer.serving import served


@pytest.fixture(scope="session")
def session(image_runs):
    from bagwise.viewer.session import Session, open_runs

    return Session(open_runs(image_runs))


@pytest.fixture(scope="session")
def address(session):
    """Address of a running server of the session."""
    with served(session) as address:
        yield address


@pytest.fixture(scope="session")
def client(address):
    with httpx.Client(base_url=address, timeout=240) as client:
        yield client
