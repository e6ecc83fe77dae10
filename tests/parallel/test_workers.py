"""Tasks in worker processes: no results are lost if a process dies or is replaced."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.parallel.dask_cluster import DaskCluster
from bagwise.parallel.workers import MAX_STARTS, check_workers, run_tasks
from faults.processes import is_running
from parallel.worker_tasks import return_process_or_block, touch_or_die

TASKS = ["a", "b", "c", "d", "e"]


def run_with_deadly_b(folder, once):
    def get_remaining():
        return [task for task in TASKS if not (folder / task).exists()]

    return run_tasks(partial(touch_or_die, folder, "b", once), get_remaining, 2, lambda task: f"task {task}")


def test_run_tasks_repeats_what_a_dead_worker_was_running(tmp_path):
    for _ in run_with_deadly_b(tmp_path, once=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "b.died", "c", "d", "e"]


def test_run_tasks_names_a_task_that_always_kills_its_worker_after_doing_the_others(tmp_path):
    with pytest.raises(InputError, match=r"^task b: its worker process was killed each time"):
        list(run_with_deadly_b(tmp_path, once=False))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b.died", "c", "d", "e"]
    assert (tmp_path / "b.died").read_text() == "!" * (MAX_STARTS + 1)


def test_run_tasks_terminates_its_processes_without_a_warning_when_closed(recwarn):
    """If the blocked tasks were not terminated, closing would not return."""
    results = run_tasks(return_process_or_block, lambda: [False, True, True, True], 2, str)
    pid = next(results)
    results.close()
    assert not is_running(pid)
    assert [str(warning.message) for warning in recwarn] == []


def test_run_tasks_replaces_a_process_that_grew_without_a_warning():
    pytest.importorskip("psutil", reason="joblib measures processes with psutil")
    code = (
        "from bagwise.parallel.workers import run_tasks; from parallel.worker_tasks import outgrow_process\n"
        "done = {}\n"
        "for task, pid in run_tasks(outgrow_process, lambda: [n for n in range(6) if n not in done], 2, str):\n"
        "    done[task] = pid\n"
        "print(sorted(done), len(set(done.values())) >= 3)"  # a process is replaced after two tasks
    )
    paths = os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("[0, 1, 2, 3, 4, 5] True\n", "")


@pytest.mark.parametrize("workers", [0, -1])
def test_check_workers_rejects_what_is_not_a_positive_whole_number(workers):
    with pytest.raises(InputError, match=f"workers is {workers}; it must be a whole number of at least 1"):
        check_workers(workers)


def test_check_workers_accepts_a_cluster():
    check_workers(DaskCluster("tcp://127.0.0.1:9"))
