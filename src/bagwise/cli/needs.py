"""What DATA and parameters need and may not find here, said before torch is imported, which takes seconds."""

from importlib.util import find_spec
from pathlib import Path

from bagwise.errors import InputError
from bagwise.files import MANIFEST
from bagwise.names import canonical


def check_needs(*sources: str | None, engine: str | None = None) -> None:
    """Refuse a data set that was not fetched, a table whose reader is not installed, an engine that is not."""
    for data in filter(None, sources):
        _check_table(Path(data))
        _check_fetched(data)
    if engine is not None and canonical(engine) == "fused" and find_spec("numba") is None:
        raise InputError("engine 'fused' needs Numba; pip install 'bagwise[fast]', or use engine 'auto' or 'torch'")


def _check_table(path: Path) -> None:
    if path.suffix.lower() == ".parquet" and path.is_file():
        from bagwise.formats.optional import need

        need("pyarrow", path, "tables")


def _check_fetched(data: str) -> None:
    from bagwise.datasets.home import is_there, locate
    from bagwise.datasets.origins import ORIGINS

    name = {canonical(known): known for known in ORIGINS}.get(canonical(data))
    if name is not None and not (Path(data) / MANIFEST).exists() and not is_there(name):
        locate(name)  # which says what is missing and how to fetch it
