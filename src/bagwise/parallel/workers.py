"""Running independent tasks in several processes; a process that dies costs time, but no results.

A dead process breaks its pool, and the tasks that the other processes were running are lost with it. The remaining
tasks are then started again. If processes keep dying, tasks run one at a time, so that the one that kills them can be
named.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from bagwise.arguments import check_whole_number
from bagwise.errors import InputError
from bagwise.parallel.dask_cluster import ClusterError, DaskCluster, run_on_cluster

MAX_STARTS = 3  # with all workers, before the tasks run one at a time

# joblib warns when it replaces a process that stopped because it was idle or had grown (compiled kernels do that)
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

    Closing the iterator ends the processes.

    Parameters
    ----------
    function : callable
        Runs one task and returns its result; it must be picklable.
    get_remaining : callable
        Returns the tasks whose results have not been yielded; the caller keeps track of them.
    workers : int or DaskCluster
        Number of processes on this machine, or a cluster.
    get_name : callable
        Returns the name of a task, for the error message.

    Yields
    ------
    object
        Result of each task.

    Raises
    ------
    InputError
        If a task kills its process every time; all others are done first.
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
            f"{', '.join(failed)}: its worker process was killed each time, as happens when memory runs out; completed "
            "work is saved: run the same command again with fewer workers, or with less data at once"
        )


def check_workers(workers: int | DaskCluster) -> None:
    """Raise an error unless ``workers`` is a cluster or a positive number of processes.

    Parameters
    ----------
    workers : int or DaskCluster
        Number of processes on this machine, or a cluster.
    """
    if not isinstance(workers, DaskCluster):
        check_whole_number("workers", workers, minimum=1)


def _run(function: Callable[[Task], Result], tasks: Sequence[Task], workers: int | DaskCluster) -> Iterator[Result]:
    if isinstance(workers, DaskCluster):
        return run_on_cluster(function, tasks, workers)
    return _run_in_processes(function, tasks, workers)


def _run_in_processes(function: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    """Yield the results of all tasks; closing this ends the processes before the caller continues."""
    results = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(function)(task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close the results outside catch_warnings)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns about the tasks that are given up
            results.close()
