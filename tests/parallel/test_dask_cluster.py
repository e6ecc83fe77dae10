"""Tasks on a Dask cluster give the same results as on one machine, even if a worker is killed."""

import os
import signal

import pytest

from bagwise.errors import InputError
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.evaluation.comparison.runner import compare_methods
from bagwise.parallel import dask_cluster
from bagwise.parallel.dask_cluster import DaskCluster, run_on_cluster
from local_cluster import LOCAL, local_cluster

distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
PLAN = make_plan("needles", {"naive": {}, "attention": {"epochs": 2}}, options={"n_bags": 20}, folds=3)


def read_results(folder):
    """Return the content of all unit files, without the run times at their end."""
    return {
        (path.parent.name, path.name): path.read_text().split('"seconds"')[0] for path in folder.rglob("units/*/*.json")
    }


class CountingFunction:
    """A function that counts how often it is pickled."""

    n_pickled = 0

    def __call__(self, task):
        return task * 2

    def __getstate__(self):
        CountingFunction.n_pickled += 1
        return {}

    def __setstate__(self, state):
        pass


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as cluster:
        yield cluster


def test_compare_methods_gives_the_same_numbers_on_a_cluster(tmp_path, cluster):
    on_cluster = compare_methods(tmp_path / "cluster", PLAN, workers=cluster)
    here = compare_methods(tmp_path / "here", PLAN)
    assert read_results(on_cluster.folder) == read_results(here.folder)
    assert len(read_results(on_cluster.folder)) == 6


@pytest.mark.full
def test_compare_methods_loses_nothing_when_a_worker_of_the_cluster_is_killed(tmp_path):
    slow = make_plan("needles", {"attention": {"epochs": 150, "engine": "torch"}}, options={"n_bags": 20}, folds=5)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **LOCAL) as local:
        victims = [worker.pid for worker in local.workers.values()]

        def kill_one(done, total):
            if done == 1 and victims:
                os.kill(victims.pop(), signal.SIGKILL)
                victims.clear()

        found = compare_methods(
            tmp_path / "cluster", slow, workers=DaskCluster(local.scheduler_address), progress=kill_one
        )
        assert not victims
    assert read_results(found.folder) == read_results(compare_methods(tmp_path / "here", slow).folder)


def test_run_on_cluster_sends_the_function_once_and_not_with_each_task(cluster):
    CountingFunction.n_pickled = 0
    results = run_on_cluster(CountingFunction(), list(range(20)), cluster)
    assert sorted(results) == [2 * number for number in range(20)]
    assert CountingFunction.n_pickled <= 2


def test_run_on_cluster_rejects_a_scheduler_that_does_not_answer_within_the_timeout(monkeypatch):
    timeouts = []

    class RecordingClient(distributed.Client):
        def __init__(self, address, timeout):
            timeouts.append(timeout)
            super().__init__(address, timeout=timeout)

    monkeypatch.setattr(dask_cluster, "SCHEDULER_TIMEOUT", 0.3)
    monkeypatch.setattr(distributed, "Client", RecordingClient)
    with pytest.raises(InputError, match=r"no Dask scheduler can be reached at tcp://127\.0\.0\.1:9 .*dask scheduler"):
        list(run_on_cluster(str, [1], DaskCluster("tcp://127.0.0.1:9")))
    assert timeouts == [0.3]


def test_run_on_cluster_rejects_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(dask_cluster, "WORKER_TIMEOUT", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, **LOCAL) as empty,
        pytest.raises(InputError, match="no worker has joined the Dask scheduler at"),
    ):
        list(run_on_cluster(str, [1], DaskCluster(empty.scheduler_address)))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("0.0.1", "has bagwise 0.0.1, but this command has"),
        (ImportError(), "has no bagwise, but this command has"),
    ],
)
def test_run_on_cluster_names_a_worker_with_another_version_of_bagwise(monkeypatch, cluster, found, message):
    monkeypatch.setattr(distributed.Client, "run", lambda self, *arguments, **options: {"tcp://10.0.0.7:1": found})
    with pytest.raises(InputError, match=rf"the Dask worker tcp://10\.0\.0\.7:1 {message}"):
        list(run_on_cluster(str, [1], cluster))
