"""Fuzz: mutated inputs over every reader and loader of saved models, in bounded time: no crash, hang or traceback.

500 inputs in the quick form, more than 10,000 in the full one; whatever ever broke something lies in corpus/, in a
folder named as its target.
"""

import os
import random
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults.fuzz_targets import TARGETS
from faults.fuzzing import fuzz, mutate, read_one
from unchecked import unchecked

CORPUS = Path(__file__).parent / "corpus"


def told(problems):
    return "\n\n".join(f"{problem['input']}\n{problem['problem']}" for problem in problems[:5])


def test_five_hundred_inputs_are_read_or_refused(tmp_path):
    """Over all that bagwise itself has saved, and a few of each other reader, which have their own quick form."""
    done, problems = fuzz(tmp_path, 0, 500 // len(TARGETS) + 1, TARGETS)
    assert not problems, told(problems)
    assert done >= 500


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_ten_thousand_inputs_never_seen_before_are_read_or_refused(tmp_path):
    first, each = secrets.randbelow(1 << 40), 10_000 // len(TARGETS) + 1
    names, workers = list(TARGETS), min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:  # every process has its own share of the targets
        shares = [names[start::workers] for start in range(workers)]
        ended = list(pool.map(lambda share: fuzz(tmp_path, first, each, share), shares))
    problems = [problem for _, found in ended for problem in found]
    assert not problems, told(problems)
    assert sum(done for done, _ in ended) >= 10_000


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_what_ever_broke_something_does_so_no_more(tmp_path, name):
    target, read = TARGETS[name](tmp_path)
    with unchecked():  # as a user reads them: a checker of signatures would refuse some of them by itself
        for path in sorted((CORPUS / name).iterdir()):
            assert read_one(target, read, path.read_bytes()) is None, path.name


def test_a_crash_a_hang_and_a_traceback_are_seen(tmp_path):
    """The watch itself, on readers that do what no reader should."""
    code = """
import os, time
def harmful(harm):
    def prepare(folder):
        path, whole = folder / "a", bytes(range(200)) + b'{"a": [1]}'
        path.write_bytes(whole)
        return path, lambda: path.read_bytes() == whole or harm()
    return prepare
HARMS = {"crash": os.abort, "err": lambda: 1 / 0, "hang": lambda: time.sleep(60), "fine": lambda: None}
TARGETS = {name: harmful(harm) for name, harm in HARMS.items()}
"""
    (tmp_path / "fuzz_targets.py").write_text(code)
    done, problems = fuzz(tmp_path / "work", 0, 1, ["crash", "err", "hang", "fine"], tmp_path, seconds=1)
    assert done == 4
    assert [problem["input"].split()[0].split("/")[-1] for problem in problems] == ["crash", "err", "hang"]
    assert "ZeroDivisionError" in problems[1]["problem"]


def test_the_same_seed_gives_the_same_input():
    inputs = [mutate(b'{"a": [1, 2], "b": "c"}' * 9, random.Random(seed)) for seed in (*range(50), *range(50))]
    assert inputs[:50] == inputs[50:]
    assert len(set(inputs)) > 40
