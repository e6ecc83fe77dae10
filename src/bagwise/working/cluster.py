"""The same work on a Dask cluster, which Dask's own launchers start: on SLURM, on Kubernetes, on a few machines.

What the pieces share is sent once a worker, not once a piece. Dask gives the work of a worker that died to another.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from bagwise.errors import InputError

PATIENCE = 20  # seconds until a scheduler has answered
INSTALL = "pip install 'bagwise[dask]'"

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Cluster(NamedTuple):
    """Where a scheduler listens, e.g. tcp://10.0.0.1:8786."""

    address: str


class Broken(Exception):  # noqa: N818 (the work is started again)
    """Workers died, and with them what they were sent."""


def over_cluster(do: Callable[[Piece], Result], pieces: Sequence[Piece], cluster: Cluster) -> Iterator[Result]:
    """The results of all pieces, in any order."""
    with _connected(cluster) as client:
        from dask.distributed import as_completed
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            shared = _sent(client, do)
            under_way = [client.submit(_call, shared, piece, pure=False) for piece in pieces]
            for done in as_completed(under_way):
                yield done.result()
        except (KilledWorker, CancelledError, FutureCancelledError):
            raise Broken from None


def _sent(client: Any, do: Any) -> Any:
    try:
        return client.scatter(do, broadcast=True, hash=False)
    except (KeyError, OSError):  # a worker left just now
        raise Broken from None


def _call(do: Callable[[Piece], Result], piece: Piece) -> Result:
    return do(piece)


@contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    try:
        from dask.distributed import Client
    except ImportError:
        raise InputError(f"work on a cluster needs Dask: {INSTALL}") from None
    try:
        client = Client(cluster.address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no Dask scheduler answers at {cluster.address} ({type(error).__name__}); start one with "
            "`dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`"
        ) from None
    with client:
        _check_workers(client)
        yield client


def _check_workers(client: Any) -> None:
    """Work is sent as this bagwise knows it: workers of another one could not read it."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InputError(
            f"no worker has joined the Dask scheduler at {client.scheduler.address}; start some with "
            "`dask worker ADDRESS --nthreads 1`, or wait for the cluster's, and run the same command again"
        ) from None
    own = version("bagwise")
    for worker, found in client.run(version, "bagwise", on_error="return").items():
        if found != own:
            has = f"bagwise {found}" if isinstance(found, str) else "no bagwise"
            raise InputError(f"the Dask worker {worker} has {has}, and this command {own}; install the same on both")
