"""Results of a benchmark with the conditions they were found under: a table for people, and as csv for programs."""

import csv
import platform
from pathlib import Path

import numpy as np
import torch

FOLDER = Path(__file__).parent / "results"
PROCESSORS = Path("/proc/cpuinfo")


def conditions(*more):
    """Versions, processor and threads in one sentence."""
    names = [line.split(":")[1].strip() for line in _lines(PROCESSORS) if line.startswith("model name")]
    processor = f"{len(names)} × {names[0]}" if names else platform.machine()
    parts = [f"torch {torch.__version__}", f"NumPy {np.__version__}", f"Python {platform.python_version()}", processor]
    return ", ".join([*parts, f"{torch.get_num_threads()} threads", *more])


def _lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def write(name, title, text, rows):
    """``rows`` are dictionaries of the same keys: the columns."""
    FOLDER.mkdir(exist_ok=True)
    columns = list(rows[0])
    lines = [f"# {title}", "", text, "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(str(row[column]) for column in columns)} |" for row in rows]
    (FOLDER / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        table.writerows(rows)
