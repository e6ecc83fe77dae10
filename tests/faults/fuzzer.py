"""A fuzzer: mutated inputs are read in a separate process, so that a crash can be reported.

    python fuzzer.py TARGETS SECONDS FOLDER FIRST COUNT NAME …     reads COUNT inputs of each target, from seed FIRST

An input must be read, or rejected with an InputError. Any other outcome is reported, and the input is stored in FOLDER.
"""

import faulthandler
import json
import random
import re
import resource
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 240  # time limit of an input, after which it counts as a hang; most take 0.01 seconds
MEMORY = 10 << 30  # limit of the address space in bytes; torch reserves 4 GiB of it
EDGES = (b"\0", b"\xff", b"\x7f", b"\x80", b"-1", b"1e999", b"nan", b"null", b"[]", b"{}", b'""', b"9" * 20)


def mutate(content, random_source):
    """Return the content with a few random changes."""
    content = bytearray(content)
    for _ in range(random_source.choice([1, 1, 1, 2, 3, 6])):
        random_source.choice(CHANGES)(content, random_source)
    return bytes(content)


def flip(content, random_source):
    if content:
        content[random_source.randrange(len(content))] ^= 1 << random_source.randrange(8)


def truncate(content, random_source):
    del content[random_source.randrange(len(content) + 1) :]


def overwrite(content, random_source):
    at, length = random_source.randrange(len(content) + 1), random_source.choice([1, 2, 4, 8, 64])
    content[at : at + length] = bytes([random_source.choice([0, 1, 127, 128, 255])]) * len(content[at : at + length])


def insert(content, random_source):
    at = random_source.randrange(len(content) + 1)
    content[at:at] = random_source.choice(EDGES) * random_source.choice([1, 1, 3])


def repeat(content, random_source):
    at, length = random_source.randrange(len(content) + 1), random_source.choice([1, 8, 100, 1000])
    content[at:at] = content[at : at + length] * random_source.choice([1, 2, 50])


def drop(content, random_source):
    at = random_source.randrange(len(content) + 1)
    del content[at : at + random_source.choice([1, 4, 32, 300])]


def swap(content, random_source):
    """Swap two pieces of the same length."""
    length = random_source.choice([1, 4, 16, 64])
    one, other = (random_source.randrange(max(1, len(content) - length)) for _ in range(2))
    kept = content[one : one + length]
    content[one : one + length] = content[other : other + length]
    content[other : other + len(kept)] = kept


def splice(content, random_source):
    at, source = (random_source.randrange(len(content) + 1) for _ in range(2))
    content[at : at + 12] = content[source : source + 16]


def renumber(content, random_source):
    """Replace a number in a text by another value."""
    matches = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(content)))
    if matches:
        match = random_source.choice(matches)
        content[match.start() : match.end()] = random_source.choice(
            [*EDGES, b"0", b"-7", b"3.5", b"1e9", b"true", b'"x"']
        )


def replace_json(content, random_source):
    """Replace a string, a list or an object in JSON by another value."""
    matches = list(re.finditer(rb'"[^"\n]*"|\[[^\[\]]*\]|\{[^{}]*\}', bytes(content)))
    if matches:
        match = random_source.choice(matches)
        content[match.start() : match.end()] = random_source.choice(
            [b"null", b"0", b"[]", b"{}", b'"x"', b"true", b"[[1]]"]
        )


CHANGES = (flip, flip, truncate, overwrite, insert, repeat, drop, swap, splice, renumber, replace_json)


def read_one(path, read, content, seconds=SECONDS):
    """Return None if the input is read or rejected, otherwise the traceback."""
    from bagwise.errors import InputError

    path.write_bytes(content)
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        read()
    except InputError:
        pass
    except Exception:
        return traceback.format_exc()
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def main(seconds, folder, first, count, names):
    """Read inputs in this process; print one line of JSON per input and per problem."""
    from fuzz_targets import TARGETS

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, -1))
    for name in names:
        work = folder / f"{name} {first}"
        work.mkdir(parents=True)
        path, read = TARGETS[name](work)
        whole = path.read_bytes()
        read()  # the unchanged file must be valid; otherwise nothing is tested
        for seed in range(first, first + count):
            content = mutate(whole, random.Random(f"{name} {seed}"))
            kept = folder / f"{name} {seed}.input"
            kept.write_bytes(content)
            print(json.dumps({"began": [name, seed]}), flush=True)
            problem = read_one(path, read, content, seconds)
            if problem is None:
                kept.unlink()
            else:
                print(json.dumps({"problem": problem, "input": str(kept)}), flush=True)


def fuzz(folder, first, count, names, targets=HERE, seconds=SECONDS):
    """Read inputs in a process, which is restarted after a crash; return the number of inputs and the problems.

    ``targets`` is the folder that contains fuzz_targets.py.
    """
    problems, done, names = [], 0, list(names)
    while names:
        command = [sys.executable, __file__, targets, seconds, folder, first, count, *names]
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
        records = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        began = [line["began"] for line in records if "began" in line]
        problems += [line for line in records if "problem" in line]
        done += len(began)
        if ended.returncode == 0:
            break
        name, seed = began[-1] if began else (names[0], first)
        problems.append({"problem": f"exit {ended.returncode}: {ended.stderr[-2000:]}", "input": f"{name} {seed}"})
        names = names[names.index(name) + 1 :]
    return done, problems


if __name__ == "__main__":
    sys.path[:0] = [sys.argv[1], str(HERE.parent)]
    main(float(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
