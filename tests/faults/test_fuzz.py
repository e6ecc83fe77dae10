"""Fuzzing: mutated input for every reader and loader must not cause a crash, a hang or a traceback.

The quick tests read 250 inputs, the full tests more than 10,000. Every input that ever failed is stored in corpus/, in
a folder with the name of its target.
"""

import os
import random
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults.fuzz_targets import TARGETS
from faults.fuzzer import fuzz, mutate, read_one
from unchecked import unchecked

CORPUS = Path(__file__).parent / "corpus"
HARMFUL_TARGETS = """
import os, threading
def make_target(harm):
    def prepare(folder):
        path, valid = folder / "a", bytes(range(200)) + b'{"a": [1]}'
        path.write_bytes(valid)
        return path, lambda: path.read_bytes() == valid or harm()
    return prepare
HARMS = {"crash": os.abort, "error": lambda: 1 / 0, "hang": threading.Event().wait, "harmless": lambda: None}
TARGETS = {name: make_target(harm) for name, harm in HARMS.items()}
"""


def describe(problems):
    return "\n\n".join(f"{problem['input']}\n{problem['problem']}" for problem in problems[:5])


def test_readers_read_or_reject_250_mutated_inputs(tmp_path):
    n_read, problems = fuzz(tmp_path, 0, 250 // len(TARGETS) + 1, TARGETS)
    assert not problems, describe(problems)
    assert n_read >= 250


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_readers_read_or_reject_10000_new_mutated_inputs(tmp_path):
    first, count = secrets.randbelow(1 << 40), 10_000 // len(TARGETS) + 1
    names, n_processes = list(TARGETS), min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(n_processes) as pool:  # one process per group of targets
        shares = [names[start::n_processes] for start in range(n_processes)]
        results = list(pool.map(lambda share: fuzz(tmp_path, first, count, share), shares))
    problems = [problem for _, found in results for problem in found]
    assert not problems, describe(problems)
    assert sum(n_read for n_read, _ in results) >= 10_000


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_readers_read_or_reject_inputs_that_once_failed(tmp_path, name):
    target, read = TARGETS[name](tmp_path)
    with unchecked():  # the runtime type checks of the tests would reject some inputs
        for path in sorted((CORPUS / name).iterdir()):
            assert read_one(target, read, path.read_bytes()) is None, path.name


def test_fuzz_reports_a_crash_and_a_traceback(tmp_path):
    (tmp_path / "fuzz_targets.py").write_text(HARMFUL_TARGETS)
    n_read, problems = fuzz(tmp_path / "work", 0, 1, ["crash", "error", "harmless"], tmp_path)
    assert n_read == 3
    assert [Path(problem["input"]).name.split()[0] for problem in problems] == ["crash", "error"]
    assert "ZeroDivisionError" in problems[1]["problem"]


def test_fuzz_reports_a_hang(tmp_path):
    (tmp_path / "fuzz_targets.py").write_text(HARMFUL_TARGETS)
    _, (problem,) = fuzz(tmp_path / "work", 0, 1, ["hang"], tmp_path, seconds=0.1)
    assert "Timeout" in problem["problem"]


def test_mutate_returns_the_same_input_for_the_same_seed():
    inputs = [mutate(b'{"a": [1, 2], "b": "c"}' * 9, random.Random(seed)) for seed in (*range(50), *range(50))]
    assert inputs[:50] == inputs[50:]
    assert len(set(inputs)) > 40
