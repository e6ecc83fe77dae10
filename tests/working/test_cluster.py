"""The same comparison on a Dask cluster: processes of this machine, one of which is killed."""

import os
import signal
import time

import pytest

from bagwise.comparing import compare
from bagwise.comparing.plan import make_plan
from bagwise.errors import InputError
from bagwise.working import cluster as clusters
from bagwise.working.cluster import Cluster, over_cluster
from local_cluster import LOCAL, local_cluster

distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
PLAN = make_plan("needles", {"naive": {}, "attention": {"epochs": 2}}, options={"n_bags": 20}, folds=3)


def numbers(folder):
    return {
        (path.parent.name, path.name): path.read_text().split('"seconds"')[0] for path in folder.rglob("units/*/*.json")
    }


class Counted:
    """Work that counts how often it is sent."""

    sent = 0

    def __call__(self, piece):
        return piece * 2

    def __getstate__(self):
        Counted.sent += 1
        return {}

    def __setstate__(self, state):
        pass


@pytest.fixture(scope="module")
def local():
    with local_cluster() as cluster:
        yield cluster


def test_the_numbers_are_those_of_this_machine(tmp_path, local):
    found = compare(tmp_path / "cluster", PLAN, workers=local)
    here = compare(tmp_path / "here", PLAN)
    assert numbers(found.folder) == numbers(here.folder)
    assert len(numbers(found.folder)) == 6


def test_what_the_pieces_share_is_sent_once_and_not_with_each(local):
    Counted.sent = 0
    assert sorted(over_cluster(Counted(), list(range(20)), local)) == [2 * number for number in range(20)]
    assert Counted.sent <= 2


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_killed_worker_loses_nothing(tmp_path):
    slow = make_plan("needles", {"attention": {"epochs": 150, "engine": "torch"}}, options={"n_bags": 20}, folds=5)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **LOCAL) as local:
        victims = [worker.pid for worker in local.workers.values()]

        def kill_one(done, of):
            if done == 1 and victims:
                os.kill(victims.pop(), signal.SIGKILL)
                victims.clear()

        found = compare(tmp_path / "cluster", slow, workers=Cluster(local.scheduler_address), progress=kill_one)
        assert not victims
    assert numbers(found.folder) == numbers(compare(tmp_path / "here", slow).folder)


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.3)
    began = time.monotonic()
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 .*dask scheduler"):
        list(over_cluster(str, [1], Cluster("tcp://127.0.0.1:9")))
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("found", "words"), [("0.0.1", "has bagwise 0.0.1, and this command"), (ImportError(), "has no bagwise, and this")]
)
def test_a_worker_with_another_bagwise_is_named(monkeypatch, local, found, words):
    monkeypatch.setattr(distributed.Client, "run", lambda self, *given, **options: {"tcp://10.0.0.7:1": found})
    with pytest.raises(InputError, match=rf"the Dask worker tcp://10.0.0.7:1 {words}"):
        list(over_cluster(str, [1], local))


def test_a_scheduler_without_workers_is_told(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, **LOCAL) as empty,
        pytest.raises(InputError, match="no worker has joined the Dask scheduler at"),
    ):
        list(over_cluster(str, [1], Cluster(empty.scheduler_address)))
