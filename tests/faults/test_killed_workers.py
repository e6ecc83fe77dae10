"""If a worker of `compare`, `reproduce`, `extract` or `import` dies, its work is repeated with the same result."""

import os
import random
import shutil
import signal

import pytest

from bagwise.io.manifest import find_damage, hash_file
from data.formats.foreign import features, grid, trident_slide, write_table
from faults.processes import find_leftovers, find_workers, needs_proc
from faults.tiny_recipe import make_command, read_units

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5))]
COMPARE = ("needles", "--methods", "attention", "--engine", "torch", "--epochs", "20", "--folds", "6", "--quiet")
pytestmark = pytest.mark.timeout(1200)  # for the full tests on a busy machine


def run_and_kill_a_worker(fork_server, command, folder, random_source):
    """Stop a comparison before a random unit is written, kill a random worker, and let the command finish."""
    trigger = {"operation": "os.rename", "pattern": "*/units/*.json", "count": random_source.randint(1, 3)}
    child = fork_server.start_and_stop(command, folder, **trigger)
    os.kill(random_source.choice(find_workers(child.pid)), signal.SIGKILL)
    child.resume()
    assert child.wait() == 0, child.output.read_text()
    assert find_leftovers(folder) == []


def run_with_dying_worker(fork_server, command, folder, pattern, seed):
    """Run a command until it finishes; one of its workers kills itself after it has opened a lock file."""
    random_source, died = random.Random(seed), folder / "died"
    trigger = {"operation": "open", "pattern": pattern, "n_calls": random_source.randrange(2000), "once": str(died)}
    child = fork_server.start_with_signal(command, folder, in_worker=True, number=signal.SIGKILL, **trigger)
    assert child.wait() == 0, child.output.read_text()
    died.unlink()  # fails if no worker died
    assert find_leftovers(folder) == []


def hash_folder(folder):
    return {path.name: hash_file(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory, fork_server, tiles):
    """Return the hashes of the bags that a single process extracts."""
    folder = tmp_path_factory.mktemp("extracted")
    shutil.copytree(tiles, folder / "tiles")
    fork_server.run(["extract", "tiles", "--out", "bags", "--quiet"], folder)
    return hash_folder(folder / "bags")


@pytest.fixture(scope="module")
def imported(tmp_path_factory, fork_server):
    """Return a command that imports three slides, and the hashes of the bags that a single process writes."""
    folder, rows = tmp_path_factory.mktemp("imported"), [["slide_id", "label"]]
    for number in range(3):
        source = trident_slide(folder / "tool", f"s{number}", features(50, seed=number), grid(50), bounds=(10**5,) * 2)
        rows.append([f"s{number}", number % 2])
    command = ["import", source, "--labels", write_table(folder / "labels.csv", rows), "--quiet"]
    fork_server.run([*command, "--out", "bags"], folder)
    return command, hash_folder(folder / "bags")


@pytest.mark.full
@needs_proc
@pytest.mark.parametrize("seed", range(5))
def test_reproduce_repeats_the_units_of_a_dead_worker(tmp_path, fork_server, seed):
    run_and_kill_a_worker(fork_server, make_command(2, "--workers", 2), tmp_path, random.Random(seed))
    (tmp_path / "alone").mkdir()
    fork_server.run(make_command(2), tmp_path / "alone")
    assert read_units(tmp_path / "out") == read_units(tmp_path / "alone" / "out")


@pytest.mark.full
@needs_proc
@pytest.mark.parametrize("seed", range(5))
def test_compare_repeats_the_units_of_a_dead_worker(tmp_path, fork_server, seed):
    options = (*COMPARE, "--data-option", "n_bags=20")
    command = ["compare", *options, "--workers", 2, "--out", "two"]
    run_and_kill_a_worker(fork_server, command, tmp_path, random.Random(seed))
    fork_server.run(["compare", *options, "--out", "one"], tmp_path)
    assert read_units(tmp_path / "two") == read_units(tmp_path / "one")
    assert find_damage(tmp_path / "two") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_extract_repeats_the_slide_of_a_dead_worker(tmp_path, fork_server, tiles, extracted, seed):
    shutil.copytree(tiles, tmp_path / "two")
    command = ["extract", "two", "--out", "bags", "--workers", 2, "--quiet"]
    run_with_dying_worker(fork_server, command, tmp_path, "*features-*/*.lock", seed)
    assert hash_folder(tmp_path / "bags") == extracted


@pytest.mark.parametrize("seed", SEEDS)
def test_import_repeats_the_slide_of_a_dead_worker(tmp_path, fork_server, imported, seed):
    command, expected = imported
    command = [*command, "--out", "two", "--workers", 2]
    run_with_dying_worker(fork_server, command, tmp_path, "*two.parts/*.lock", seed)
    assert hash_folder(tmp_path / "two") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


def kill_first_of_two(fork_server, command, folder, first_lock, second_lock, seed):
    """Run a command twice in parallel; kill the first while both are processing different slides."""
    n_calls = random.Random(seed).randrange(1, 500)
    first = fork_server.start_and_stop(command, folder, operation="open", pattern=first_lock, n_calls=n_calls)
    second = fork_server.start_and_stop(command, folder, operation="open", pattern=second_lock, n_calls=n_calls)
    first.kill()
    second.resume()
    assert second.wait() == 0, second.output.read_text()
    assert find_leftovers(folder) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_extract_takes_over_the_slide_of_a_dead_process(tmp_path, fork_server, tiles, extracted, seed):
    shutil.copytree(tiles, tmp_path / "two")
    command = ["extract", "two", "--out", "bags", "--batch-size", "8", "--quiet"]
    kill_first_of_two(fork_server, command, tmp_path, "*/slide-0.lock", "*/slide-1.lock", seed)
    assert hash_folder(tmp_path / "bags") == extracted


@pytest.mark.parametrize("seed", SEEDS)
def test_import_takes_over_the_slide_of_a_dead_process(tmp_path, fork_server, imported, seed):
    command, expected = imported
    command = [*command, "--out", "two", "--shared"]
    kill_first_of_two(fork_server, command, tmp_path, "*/s0.lock", "*/s1.lock", seed)
    assert hash_folder(tmp_path / "two") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["two"]
