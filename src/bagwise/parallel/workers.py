"""Execution of independent tasks in several processes; no results are lost if a process dies.

A process that dies breaks its pool, and the tasks that the other processes are running are lost. The remaining tasks
are then started again. If processes keep dying, tasks run one at a time, so that the task that kills its process can be
named in the error message.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from bagwise.arguments import check_whole_number
from bagwise.errors import InputError
from bagwise.parallel.dask_cluster import ClusterError, DaskCluster, run_on_cluster

MAX_STARTS = 3  # attempts with all workers, before the tasks run one at a time

# joblib warns if it replaces a process that was idle or whose memory has grown, as it does with compiled kernels
warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Task], Result],
    get_remaining: Callable[[], Sequence[Task]],
    workers: int | DaskCluster,
    get_name: Callable[[Task], str],
) -> Iterator[Result]:
    """Run all remaining tasks, in any order.

    Closing the iterator terminates the processes.

    Parameters
    ----------
    function : callable
        Function that runs one task and returns its result; it must be picklable.
    get_remaining : callable
        Function that returns the tasks without a result so far; the caller keeps track of them.
    workers : int or DaskCluster
        Number of processes on this machine, or a cluster.
    get_name : callable
        Function that returns the name of a task, for the error message.

    Yields
    ------
    object
        Result of each task.

    Raises
    ------
    InputError
        If a task kills its process at every attempt; all other tasks are run first.
    """
    for _ in range(MAX_STARTS):
        try:
            yield from _run(function, get_remaining(), workers)
            return
        except (BrokenProcessPool, ClusterError):
            continue
    failed = []
    for task in get_remaining():
        try:
            yield from _run(function, [task], workers)
        except (BrokenProcessPool, ClusterError):
            failed.append(get_name(task))
    if failed:
        raise InputError(
            f"{', '.join(failed)}: its worker process was killed each time, which happens if memory runs out; "
            "completed work is saved: run the same command again with fewer workers, or with less data at once"
        )


def check_workers(workers: int | DaskCluster) -> None:
    """Check that ``workers`` is a cluster or a positive number of processes.

    Parameters
    ----------
    workers : int or DaskCluster
        Number of processes on this machine, or a cluster.

    Raises
    ------
    InputError
        If it is neither.
    """
    if not isinstance(workers, DaskCluster):
        check_whole_number("workers", workers, minimum=1)


def _run(function: Callable[[Task], Result], tasks: Sequence[Task], workers: int | DaskCluster) -> Iterator[Result]:
    if isinstance(workers, DaskCluster):
        return run_on_cluster(function, tasks, workers)
    return _run_in_processes(function, tasks, workers)


def _run_in_processes(function: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    """Yield the results of all tasks; closing the iterator waits until the processes are terminated."""
    results = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(function)(task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close the results outside catch_warnings)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns about the tasks that are cancelled
            results.close()
