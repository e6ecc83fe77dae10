"""Workers: independent pieces of work over several processes; one that dies costs time, and nothing else.

A dead worker takes its pool with it, and with that whatever the others had under way. So the work is started again on
what is left; where workers go on dying, on one piece at a time, so that the piece that kills them can be named.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool

from bagwise.errors import InputError
from bagwise.quantities import whole_number
from bagwise.working.cluster import Broken, Cluster, over_cluster

STARTS = 3  # with all workers, before the pieces are done one by one

# joblib's word on a process that ended by itself and is replaced: one that idled, or grew (compiled kernels do that).
warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def work(
    do: Callable[[Piece], Result],
    left: Callable[[], Sequence[Piece]],
    workers: int | Cluster,
    name: Callable[[Piece], str],
) -> Iterator[Result]:
    """Do every piece that is left, in any order; yields what each gives.

    left : the pieces that are not done yet: the caller keeps what was yielded
    workers : so many processes here, or a cluster
    name : how a piece is called in a message
    """
    for _ in range(STARTS):
        try:
            yield from _over(do, left(), workers)
            return
        except (BrokenProcessPool, Broken):
            continue
    fatal = []
    for piece in left():
        try:
            yield from _over(do, [piece], workers)
        except (BrokenProcessPool, Broken):
            fatal.append(name(piece))
    if fatal:
        raise InputError(
            f"{', '.join(fatal)}: the process that worked on it was killed each time, as happens when memory runs out; "
            "what is done is kept: run the same command again with fewer workers, or with less to do at once"
        )


def check_workers(workers: int | Cluster) -> None:
    """Whether there is anybody to work."""
    if not isinstance(workers, Cluster):
        whole_number("workers", workers, least=1)


def _over(do: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int | Cluster) -> Iterator[Result]:
    if isinstance(workers, Cluster):
        return over_cluster(do, pieces, workers)
    return _over_processes(do, pieces, workers)


def _over_processes(do: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int) -> Iterator[Result]:
    """A caller that wants no more closes this: the processes are ended before it goes on."""
    results = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(do)(piece) for piece in pieces)
    try:
        for result in results:  # noqa: UP028 (`yield from` would close the results while warnings are heard)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's word on the work that is given up
            results.close()
