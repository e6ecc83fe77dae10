"""The log of `make test-full` in short: how many tests of the fault table ran, and how they ended.

python benchmarks/fault_log.py build/test-full.xml
"""

import sys
from collections import Counter, defaultdict
from datetime import date
from xml.etree import ElementTree

from writing_results import conditions, write

TABLE = "tests.faults."
ENDS = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def tally(cases):
    """How tests ended."""
    ends = Counter(next((end for tag, end in ENDS.items() if case.find(tag) is not None), "passed") for case in cases)
    return {end: ends[end] for end in ("passed", "failed", "skipped")}


def row(module, cases):
    seconds = sum(float(case.get("time")) for case in cases)
    return {"tests": f"`{module.replace('.', '/')}.py`", **tally(cases), "seconds": f"{seconds:.0f}"}


def main(log):
    cases = ElementTree.parse(log).findall(".//testcase")
    modules = defaultdict(list)
    for case in cases:
        if case.get("classname").startswith(TABLE):
            modules[case.get("classname")].append(case)
    whole = ", ".join(f"{number:,} {end}" for end, number in tally(cases).items())
    text = (
        f"{conditions()}, two tests at a time; {date.today().isoformat()}. "
        f"All tests of the project, of which these are a part: {whole}. Made by `make test-full`."
    )
    rows = [row(module, modules[module]) for module in sorted(modules)]
    write("faults", "The long forms of the fault table", text, rows)


if __name__ == "__main__":
    main(sys.argv[1])
