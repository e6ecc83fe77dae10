"""Execution of tasks on a Dask cluster, started with the launchers of Dask on SLURM, Kubernetes or a few machines.

The function and its data are sent once per worker, not once per task. Dask reassigns the tasks of a worker that died.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from bagwise.errors import InputError

SCHEDULER_TIMEOUT = WORKER_TIMEOUT = 20  # seconds to wait for the scheduler, and for the first worker
INSTALL = "pip install 'bagwise[dask]'"

Task = TypeVar("Task")
Result = TypeVar("Result")


class DaskCluster(NamedTuple):
    """A running Dask cluster.

    Attributes
    ----------
    address : str
        Address of the scheduler, for example "tcp://10.0.0.1:8786".
    """

    address: str


class ClusterError(Exception):
    """Raised if workers died and the data sent to them is lost."""


def run_on_cluster(function: Callable[[Task], Result], tasks: Sequence[Task], cluster: DaskCluster) -> Iterator[Result]:
    """Run tasks on a cluster, and yield their results in any order."""
    with _connect(cluster) as client:
        from dask.distributed import as_completed
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            shared = _scatter(client, function)
            futures = [client.submit(_call, shared, task, pure=False) for task in tasks]
            for future in as_completed(futures):
                yield future.result()
        except (KilledWorker, CancelledError, FutureCancelledError):
            raise ClusterError from None


def _call(function: Callable[[Task], Result], task: Task) -> Result:
    return function(task)


def _scatter(client: Any, function: Any) -> Any:
    try:
        return client.scatter(function, broadcast=True, hash=False)
    except (KeyError, OSError):  # a worker left in the meantime
        raise ClusterError from None


@contextmanager
def _connect(cluster: DaskCluster) -> Iterator[Any]:
    try:
        from dask.distributed import Client
    except ImportError:
        raise InputError(f"a cluster needs Dask, which is not installed; install it with: {INSTALL}") from None
    try:
        client = Client(cluster.address, timeout=SCHEDULER_TIMEOUT)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no Dask scheduler can be reached at {cluster.address} ({type(error).__name__}); start one with "
            "`dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`"
        ) from None
    with client:
        _check_worker_versions(client)
        yield client


def _check_worker_versions(client: Any) -> None:
    """Check that every worker has the same version of bagwise, because tasks are pickled."""
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
    except TimeoutError:
        raise InputError(
            f"no worker has joined the Dask scheduler at {client.scheduler.address}; start some with "
            "`dask worker ADDRESS --nthreads 1`, or wait until the cluster has started them, and run the same command "
            "again"
        ) from None
    own = version("bagwise")
    for worker, found in client.run(version, "bagwise", on_error="return").items():
        if found != own:
            installed = f"bagwise {found}" if isinstance(found, str) else "no bagwise"
            raise InputError(
                f"the Dask worker {worker} has {installed}, but this command has {own}; install the same version"
            )
