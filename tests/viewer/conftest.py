"""A viewer of two models of the same images, and a client that asks it."""

import httpx
import pytest

from viewer.serving import served


@pytest.fixture(scope="session")
def session(image_runs):
    from bagwise.viewer.opening import open_runs
    from bagwise.viewer.session import Session

    return Session(open_runs(image_runs))


@pytest.fixture(scope="session")
def address(session):
    """Where a real server shows the session."""
    with served(session) as address:
        yield address


@pytest.fixture(scope="session")
def client(address):
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client
