"""A Dask cluster of this machine: within the test's own process, where one thread is its worker, or of processes."""

import contextlib

import pytest

from bagwise.parallel.dask_cluster import DaskCluster

LOCAL = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}


@contextlib.contextmanager
def local_cluster(n_workers=1, processes=False):
    distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
    with distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=processes, **LOCAL) as local:
        yield DaskCluster(local.scheduler_address)
