"""Preflight checks: missing data and packages are reported before torch is imported, which takes seconds."""

from importlib.util import find_spec
from pathlib import Path

from bagwise.arguments import canonicalize_name
from bagwise.errors import InputError
from bagwise.io import MANIFEST


def check_requirements(*sources: str | None, engine: str | None = None) -> None:
    """Reject a data set that was not fetched, and a table or an engine whose package is not installed."""
    for data in filter(None, sources):
        _check_table(Path(data))
        _check_fetched(data)
    if engine is not None and canonicalize_name(engine) == "fused" and find_spec("numba") is None:
        raise InputError(
            "--engine fused needs Numba; run pip install 'bagwise[fast]', or use --engine auto or --engine torch"
        )


def _check_table(path: Path) -> None:
    if path.suffix.lower() == ".parquet" and path.is_file():
        from bagwise.io import require_package

        require_package("pyarrow", path, "tables")


def _check_fetched(data: str) -> None:
    from bagwise.data.datasets import ORIGINS, is_fetched, locate_files

    name = {canonicalize_name(known): known for known in ORIGINS}.get(canonicalize_name(data))
    if name is not None and not (Path(data) / MANIFEST).exists() and not is_fetched(name):
        locate_files(name)  # raises an error that lists the missing files and how to fetch them
