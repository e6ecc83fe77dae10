"""Writing the results of a benchmark and the versions and hardware used, as a Markdown table and a csv file."""

import csv
import platform
from pathlib import Path

import numpy as np
import torch

FOLDER = Path(__file__).parent / "results"
PROCESSORS = Path("/proc/cpuinfo")


def conditions(*more):
    """Return versions, processor and number of threads, separated by commas."""
    names = [line.split(":")[1].strip() for line in _lines(PROCESSORS) if line.startswith("model name")]
    processor = f"{len(names)} × {names[0]}" if names else platform.machine()
    parts = [f"torch {torch.__version__}", f"NumPy {np.__version__}", f"Python {platform.python_version()}", processor]
    n_threads = torch.get_num_threads()
    return ", ".join([*parts, f"{n_threads} thread{'' if n_threads == 1 else 's'}", *more])


def _lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def write(name, title, text, rows):
    """Write ``rows``, which are dictionaries with the same keys; the keys are the columns."""
    FOLDER.mkdir(exist_ok=True)
    columns = list(rows[0])
    lines = [f"# {title}", "", text, "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(str(row[column]) for column in columns)} |" for row in rows]
    (FOLDER / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        table.writerows(rows)
