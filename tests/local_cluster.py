"""A Dask cluster of this machine: within the test's own process, where one thread is its worker, or of processes."""

import contextlib
from unittest import mock

import pytest

from bagwise.parallel import dask_cluster
from bagwise.parallel.dask_cluster import DaskCluster

LOCAL = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}


@contextlib.contextmanager
def local_cluster(n_workers=1, processes=False):
    distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
    with (
        mock.patch.multiple(dask_cluster, SCHEDULER_TIMEOUT=240, WORKER_TIMEOUT=240),  # the machine may be busy
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=processes, **LOCAL) as local,
    ):
        yield DaskCluster(local.scheduler_address)
