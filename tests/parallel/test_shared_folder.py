"""Units in a shared folder: the files do not depend on the workers, and no incomplete files remain."""

import contextlib
import os

import pytest

from bagwise.errors import InputError
from bagwise.io.locking import hold_lock
from bagwise.parallel.shared_folder import ProcessedUnits, check_files_visible, process_units
from local_cluster import local_cluster
from parallel import unit_writers
from parallel.unit_writers import make_units

ALL_FILES = {f"{name}.done": name.encode() * 3 for name in "abcde"}


def read_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def outcome(done="", skipped="", elsewhere=None, bad=None):
    return ProcessedUnits(done=[*done], skipped=[*skipped], elsewhere=elsewhere or {}, bad=bad or {})


@pytest.mark.parametrize("workers", [1, 2])
def test_process_units_gives_the_same_files_with_any_number_of_workers(tmp_path, workers):
    calls = []
    found = process_units(
        make_units(tmp_path), unit_writers.write_name, workers, progress=lambda *numbers: calls.append(numbers)
    )
    assert found == outcome(done="abcde")
    assert read_files(tmp_path) == ALL_FILES
    assert calls == [(done, 5) for done in range(1, 6)]


def test_process_units_gives_the_same_files_on_a_cluster(tmp_path):
    with local_cluster() as cluster:
        assert process_units(make_units(tmp_path), unit_writers.write_name, cluster) == outcome(done="abcde")
        assert read_files(tmp_path) == ALL_FILES
        with pytest.raises(InputError, match="the folder is missing"):
            process_units(
                make_units(tmp_path / "other"), unit_writers.write_name, cluster, ready=unit_writers.fail_to_get_ready
            )


def test_process_units_skips_units_that_are_done(tmp_path):
    process_units(make_units(tmp_path, "bd"), unit_writers.write_name)
    assert process_units(make_units(tmp_path, "bd"), unit_writers.never_write, 2) == outcome(skipped="bd")
    assert process_units(make_units(tmp_path), unit_writers.write_name) == outcome(done="ace", skipped="bd")


def test_process_units_skips_locked_units_and_tries_them_again_at_the_end(tmp_path):
    """Another process has locked a, b and c; while e is written, it finishes c and dies while it writes b."""
    locks = {name: contextlib.ExitStack() for name in "abc"}
    units = make_units(tmp_path)
    for unit in units[:3]:
        assert locks[unit.name].enter_context(hold_lock(unit.lock))

    def write(unit, stream):
        if unit.name == "e":
            locks["b"].close()
            locks["c"].close()
            units[2].target.write_text("by another")
        unit_writers.write_name(unit, stream)

    with locks["a"]:
        found = process_units(units, write)
    assert (found.done, found.skipped) == (["b", "d", "e"], ["c"])
    assert list(found.elsewhere) == ["a"]
    assert found.elsewhere["a"].startswith("process")
    assert read_files(tmp_path).keys() == {f"{name}.done" for name in "bcde"}


def test_process_units_stops_at_a_bad_unit_unless_skip_bad_is_set(tmp_path):
    assert process_units(make_units(tmp_path), unit_writers.fail_over_b) == outcome(done="a", bad={"b": "b is bad"})
    found = process_units(make_units(tmp_path), unit_writers.fail_over_b, skip_bad=True)
    assert found == outcome(done="cde", skipped="a", bad={"b": "b is bad"})
    assert read_files(tmp_path).keys() == {f"{name}.done" for name in "acde"}


def test_process_units_reports_no_bad_unit_if_the_process_is_not_ready(tmp_path):
    with pytest.raises(InputError, match="the folder is missing"):
        process_units(
            make_units(tmp_path), unit_writers.write_name, skip_bad=True, ready=unit_writers.fail_to_get_ready
        )
    assert read_files(tmp_path) == {}


def test_process_units_loses_nothing_when_a_worker_is_killed(tmp_path):
    found = process_units(make_units(tmp_path), unit_writers.die_once_over_b, 2)
    assert found.done  # may not contain all units: those that another worker finished before the restart are skipped
    assert read_files(tmp_path) == ALL_FILES | {"killed": b""}


@pytest.mark.full
def test_process_units_loses_nothing_when_a_worker_of_a_cluster_is_killed(tmp_path):
    with local_cluster(n_workers=2, processes=True) as cluster:
        assert process_units(make_units(tmp_path), unit_writers.die_once_over_b, cluster).done
    assert read_files(tmp_path) == ALL_FILES | {"killed": b""}


@pytest.mark.full
def test_process_units_names_a_unit_that_always_kills_its_worker(tmp_path):
    with pytest.raises(InputError, match=r"^b: its worker process was killed each time"):
        process_units(make_units(tmp_path), unit_writers.always_die_over_b, 2)
    assert read_files(tmp_path).keys() == {f"{name}.done" for name in "acde"}


def test_process_units_leaves_no_files_of_workers_that_it_terminates(tmp_path):
    """If the worker of a were not terminated, this test would not end."""
    (tmp_path / "units").mkdir()
    os.mkfifo(tmp_path / "a has begun")
    found = process_units(make_units(tmp_path / "units", "ab"), unit_writers.fail_over_b_while_a_blocks, 2)
    assert found == outcome(bad={"b": "b is bad"})
    assert read_files(tmp_path / "units") == {}


def test_process_units_rejects_zero_workers(tmp_path):
    with pytest.raises(InputError, match="workers is 0; it must be a whole number of at least 1"):
        process_units(make_units(tmp_path), unit_writers.never_write, 0)


def test_check_files_visible_names_a_missing_folder(tmp_path):
    check_files_visible(tmp_path)
    with pytest.raises(InputError, match=r"elsewhere is not visible to a worker on .* on a disk that all share"):
        check_files_visible(tmp_path, tmp_path / "elsewhere")
