"""Measurements in the site: the files that are committed beside the code, at the same paths, so no number is copied."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

SHOWN = ("experiments/README.md", "experiments/*/*.md", "experiments/figures/*.png", "benchmarks/results/*")


def on_files(files: Files, config: Any) -> Files:
    """Add them to the pages of docs/; links between them hold, because their places do."""
    root = Path(config.config_file_path).parent
    for pattern in SHOWN:
        for path in sorted(root.glob(pattern)):
            files.append(File.generated(config, path.relative_to(root).as_posix(), abs_src_path=str(path)))
    return files
