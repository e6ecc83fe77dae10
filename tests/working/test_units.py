"""Units over a shared folder: whoever does them, the files are the same, and nothing half-done stays."""

import contextlib
import time

import pytest

from bagwise.claims import claimed
from bagwise.errors import InputError
from bagwise.working.units import Shared, check_seen, share
from local_cluster import local_cluster
from working import chores
from working.chores import units_in

ALL = {f"{name}.done": name.encode() * 3 for name in "abcde"}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_processes_gives_the_same_files_and_the_same_answer(tmp_path, workers):
    heard = []
    found = share(units_in(tmp_path), chores.write_name, workers, progress=lambda *told: heard.append(told))
    assert found == Shared([*"abcde"], [], {}, {})
    assert files(tmp_path) == ALL
    assert heard == [(done, 5) for done in range(1, 6)]


def test_a_cluster_gives_the_same_files(tmp_path):
    with local_cluster() as cluster:
        assert share(units_in(tmp_path), chores.write_name, cluster) == Shared([*"abcde"], [], {}, {})
        assert files(tmp_path) == ALL
        with pytest.raises(InputError, match="nothing is here"):
            share(units_in(tmp_path / "other"), chores.write_name, cluster, ready=chores.lack_everything)


def test_what_is_done_is_not_done_again(tmp_path):
    share(units_in(tmp_path, "bd"), chores.write_name)
    assert share(units_in(tmp_path, "bd"), chores.never_write, 2) == Shared([], ["b", "d"], {}, {})
    assert share(units_in(tmp_path), chores.write_name) == Shared(["a", "c", "e"], ["b", "d"], {}, {})


def test_what_another_process_has_in_hand_is_left_to_it_and_visited_again_at_the_end(tmp_path):
    """It ends c, and dies over b, while e is done."""
    held = {name: contextlib.ExitStack() for name in "abc"}
    units = units_in(tmp_path)
    for unit in units[:3]:
        assert held[unit.name].enter_context(claimed(unit.claim))

    def write(unit, stream):
        if unit.name == "e":
            held["b"].close()
            held["c"].close()
            units[2].target.write_text("by another")
        chores.write_name(unit, stream)

    with held["a"]:
        found = share(units, write)
    assert (found.done, found.skipped) == (["b", "d", "e"], ["c"])
    assert list(found.elsewhere) == ["a"]
    assert found.elsewhere["a"].startswith("process")
    assert files(tmp_path).keys() == {f"{name}.done" for name in "bcde"}


def test_a_bad_unit_is_told_and_ends_the_work_unless_it_may_be_skipped(tmp_path):
    assert share(units_in(tmp_path), chores.refuse_b) == Shared(["a"], [], {}, {"b": "b is bad"})
    found = share(units_in(tmp_path), chores.refuse_b, skip_bad=True)
    assert found == Shared(["c", "d", "e"], ["a"], {}, {"b": "b is bad"})
    assert files(tmp_path).keys() == {f"{name}.done" for name in "acde"}


def test_what_a_process_lacks_is_no_fault_of_a_unit(tmp_path):
    with pytest.raises(InputError, match="nothing is here"):
        share(units_in(tmp_path), chores.write_name, skip_bad=True, ready=chores.lack_everything)
    assert files(tmp_path) == {}


def test_a_killed_worker_loses_nothing(tmp_path):
    assert share(units_in(tmp_path), chores.die_over_b, 2).done  # those under way beside b may count as done before
    assert files(tmp_path) == ALL | {"killed": b""}


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path):
    with local_cluster(n_workers=2, processes=True) as cluster:
        assert share(units_in(tmp_path), chores.die_over_b, cluster).done
    assert files(tmp_path) == ALL | {"killed": b""}


@pytest.mark.full
def test_a_unit_that_kills_its_worker_each_time_is_named_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match=r"^b: the process that worked on it was killed each time"):
        share(units_in(tmp_path), chores.always_die_over_b, 2)
    assert files(tmp_path).keys() == {f"{name}.done" for name in "acde"}


def test_workers_that_are_ended_in_the_middle_leave_nothing_behind(tmp_path):
    began = time.monotonic()
    found = share(units_in(tmp_path, "ab"), chores.refuse_b_while_a_is_long, 2)
    assert found == Shared([], [], {}, {"b": "b is bad"})
    assert files(tmp_path) == {}
    assert time.monotonic() - began < 50


def test_workers_are_counted_and_folders_that_are_not_seen_are_named(tmp_path):
    with pytest.raises(InputError, match="workers is 0; it must be a whole number of at least 1"):
        share(units_in(tmp_path), chores.never_write, 0)
    check_seen(tmp_path)
    with pytest.raises(InputError, match=r"elsewhere is not seen by a worker on .* on a disk that all share"):
        check_seen(tmp_path, tmp_path / "elsewhere")
