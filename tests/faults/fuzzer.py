"""Mutated inputs for every reader and every loader, read in processes of their own: a crash there is seen, and told.

    python fuzzing.py TARGETS SECONDS FOLDER FIRST COUNT NAME …     reads COUNT inputs of each target, from seed FIRST

An input is read, or refused with an InputError, within a few seconds; whatever else happens is written to FOLDER with
the input that did it.
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
SECONDS = 20  # one input; an ordinary one takes a hundredth of a second
MEMORY = 6 << 30  # bytes, of which torch itself takes four without using them
EDGES = (b"\0", b"\xff", b"\x7f", b"\x80", b"-1", b"1e999", b"nan", b"null", b"[]", b"{}", b'""', b"9" * 20)


def mutate(content, draws):
    """The content after a few changes."""
    content = bytearray(content)
    for _ in range(draws.choice([1, 1, 1, 2, 3, 6])):
        draws.choice(CHANGES)(content, draws)
    return bytes(content)


def flip(content, draws):
    if content:
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)


def truncate(content, draws):
    del content[draws.randrange(len(content) + 1) :]


def overwrite(content, draws):
    at, length = draws.randrange(len(content) + 1), draws.choice([1, 2, 4, 8, 64])
    content[at : at + length] = bytes([draws.choice([0, 1, 127, 128, 255])]) * len(content[at : at + length])


def insert(content, draws):
    at = draws.randrange(len(content) + 1)
    content[at:at] = draws.choice(EDGES) * draws.choice([1, 1, 3])


def repeat(content, draws):
    at, length = draws.randrange(len(content) + 1), draws.choice([1, 8, 100, 1000])
    content[at:at] = content[at : at + length] * draws.choice([1, 2, 50])


def drop(content, draws):
    at = draws.randrange(len(content) + 1)
    del content[at : at + draws.choice([1, 4, 32, 300])]


def swap(content, draws):
    """Two pieces of the same length change their places."""
    length = draws.choice([1, 4, 16, 64])
    one, other = (draws.randrange(max(1, len(content) - length)) for _ in range(2))
    kept = content[one : one + length]
    content[one : one + length] = content[other : other + length]
    content[other : other + len(kept)] = kept


def splice(content, draws):
    at, source = (draws.randrange(len(content) + 1) for _ in range(2))
    content[at : at + 12] = content[source : source + 16]


def renumber(content, draws):
    """Another number, or another kind of thing, where text has a number."""
    places = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(content)))
    if places:
        place = draws.choice(places)
        content[place.start() : place.end()] = draws.choice([*EDGES, b"0", b"-7", b"3.5", b"1e9", b"true", b'"x"'])


def reword(content, draws):
    """Another thing where JSON has words, a list or a table."""
    places = list(re.finditer(rb'"[^"\n]*"|\[[^\[\]]*\]|\{[^{}]*\}', bytes(content)))
    if places:
        place = draws.choice(places)
        content[place.start() : place.end()] = draws.choice([b"null", b"0", b"[]", b"{}", b'"x"', b"true", b"[[1]]"])


CHANGES = (flip, flip, truncate, overwrite, insert, repeat, drop, swap, splice, renumber, reword)


def read_one(path, read, content, seconds=SECONDS):
    """None if the input is read or refused; else what happened."""
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
    """Read inputs in this process; what goes wrong is a line of JSON on standard output."""
    from fuzz_targets import TARGETS

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (4 << 30), -1))
    for name in names:
        place = folder / f"{name} {first}"
        place.mkdir(parents=True)
        path, read = TARGETS[name](place)
        whole = path.read_bytes()
        read()  # what is whole must be read, or nothing would be tested
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
    """Read inputs in processes, a new one after each that died; returns how many were read, and what went wrong.

    targets : the folder of fuzz_targets.py
    """
    problems, done, names = [], 0, list(names)
    while names:
        command = [sys.executable, __file__, targets, seconds, folder, first, count, *names]
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
        said = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        began = [line["began"] for line in said if "began" in line]
        problems += [line for line in said if "problem" in line]
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
