import pytest

from bagwise.cli.workers import chosen_workers
from bagwise.errors import InputError
from bagwise.working.cluster import Cluster


def test_flags_choose_processes_or_a_cluster():
    assert chosen_workers(3, "joblib", None) == 3
    assert chosen_workers(1, "dask", "tcp://here:1") == Cluster("tcp://here:1")


@pytest.mark.parametrize(
    ("backend", "scheduler", "words"),
    [
        ("dask", None, "needs --scheduler ADDRESS"),
        ("joblib", "tcp://here:1", "belongs to --backend dask"),
        ("dusk", None, "did you mean|dask"),
    ],
)
def test_flags_that_do_not_fit_are_refused(backend, scheduler, words):
    with pytest.raises(InputError, match=words):
        chosen_workers(1, backend, scheduler)
