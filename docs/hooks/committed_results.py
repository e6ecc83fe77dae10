"""Measurements in the site: the files that are committed beside the code, at the same paths, so no number is copied.

A page may show a part of a table: a comment names the file and the table, and the empty cells below it are filled.

    <!-- numbers of experiments/table1/results.csv: table1 -->

    | method | musk1 | fox |
    | --- | ---: | ---: |
    | extra trees | | |
"""

import csv
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

SHOWN = ("experiments/README.md", "experiments/*/*.md", "experiments/figures/*.png", "benchmarks/results/*")
SKELETON = re.compile(r"^<!-- numbers of (\S+): (.+) -->\n\n((?:\|.*\n)+)", flags=re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add them to the pages of docs/; links between them hold, because their places do."""
    root = Path(config.config_file_path).parent
    for pattern in SHOWN:
        for path in sorted(root.glob(pattern)):
            files.append(File.generated(config, path.relative_to(root).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fill the tables of a page that are parts of committed tables."""
    return fill_tables(markdown, Path(config.config_file_path).parent)


def fill_tables(markdown: str, root: Path) -> str:
    """Fill the empty cells of tables below a comment with the numbers of the committed file that it names."""
    return SKELETON.sub(lambda found: _fill(found[3], root / found[1], found[2]), markdown)


def _fill(skeleton: str, path: Path, table: str) -> str:
    with path.open(encoding="utf-8", newline="") as stream:
        results = {(row["method"], row["column"]): row for row in csv.DictReader(stream) if row["table"] == table}
    header, rule, *rows = skeleton.splitlines()
    columns = _split(header)[1:]
    methods = [_split(row)[0] for row in rows]
    filled = [
        f"| {method} | {' | '.join(_format(results[method, column]) for column in columns)} |" for method in methods
    ]
    return "\n".join([header, rule, *filled]) + "\n"


def _split(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _format(row: dict[str, str]) -> str:
    """Format a mean with its error as the committed tables do."""
    error = row["standard_error_over_folds"] or row["standard_error_over_repeats"]
    return f"{float(row['ours']):.3f}" + (f"±{float(error):.3f}" if error else "")
