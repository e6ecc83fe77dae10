"""Who does the work: processes of this machine, or a Dask cluster; and what other commands have in hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bagwise.cli.output import Output
from bagwise.errors import InputError

if TYPE_CHECKING:
    from bagwise.working.cluster import Cluster

BACKENDS = ("joblib", "dask")

Workers = Annotated[int, typer.Option(help="Processes; they change the time, never the numbers.")]
Backend = Annotated[str, typer.Option(help="joblib: processes of this machine; dask: a cluster.")]
Scheduler = Annotated[str | None, typer.Option(help="Of the Dask cluster, e.g. tcp://10.0.0.1:8786.")]


def chosen_workers(workers: int, backend: str, scheduler: str | None) -> "int | Cluster":
    """What the library takes for these flags."""
    from bagwise.names import choose
    from bagwise.working.cluster import Cluster

    if choose(backend, {name: name for name in BACKENDS}, "backend") == "joblib":
        if scheduler is not None:
            raise InputError("--scheduler belongs to --backend dask; add that, or leave the scheduler out")
        return workers
    if scheduler is None:
        raise InputError("--backend dask needs --scheduler ADDRESS, which `dask scheduler` prints")
    return Cluster(scheduler)


def tell_elsewhere(elsewhere: dict[str, str], folder: Path, output: Output) -> None:
    """Say what other commands have in hand, and what to do then."""
    for name, owner in elsewhere.items():
        output.say(f"{name} is in the hands of {owner}")
    output.say("nothing packed yet: run the same command again when they are done")
    output.say(f"if one died on another machine, remove its .claim file below {folder} first")
