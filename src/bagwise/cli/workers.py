"""Where fits are made: processes of this machine, or a Dask cluster."""

from typing import TYPE_CHECKING, Annotated

import typer

from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.comparing.cluster import Cluster

BACKENDS = ("joblib", "dask")

Workers = Annotated[int, typer.Option(help="Processes; they change the time, never the numbers.")]
Backend = Annotated[str, typer.Option(help="joblib: processes of this machine; dask: a cluster.")]
Scheduler = Annotated[str | None, typer.Option(help="Of the Dask cluster, e.g. tcp://10.0.0.1:8786.")]


def chosen_workers(workers: int, backend: str, scheduler: str | None) -> "int | Cluster":
    """What ``compare`` takes for these flags."""
    from bagwise.comparing.cluster import Cluster
    from bagwise.names import choose

    if choose(backend, {name: name for name in BACKENDS}, "backend") == "joblib":
        if scheduler is not None:
            raise InputError("--scheduler belongs to --backend dask; add that, or leave the scheduler out")
        return workers
    if scheduler is None:
        raise InputError("--backend dask needs --scheduler ADDRESS, which `dask scheduler` prints")
    return Cluster(scheduler)
