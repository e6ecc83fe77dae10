"""Parquet files, read in batches of rows with pyarrow (optional)."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bagwise.errors import InputError, translate_errors
from bagwise.io import CsvTable, check_file_exists, check_free_memory, require_package

DAMAGED = ("is not a complete parquet file", "write it again")
BATCH_ROWS = 4096
BYTES_PER_CELL = 8  # in memory
CELLS_PER_BYTE = 100  # run-length encoding stores many equal cells in few bytes, but real tables stay below this
SMALL_TABLE = 1 << 22  # number of cells that a file of any size may declare


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[CsvTable]:
    """Open a parquet file as a table with the same interface as a csv file."""
    check_file_exists(path)
    parquet = require_package("pyarrow.parquet", path, "tables")
    with translate_errors(path, *DAMAGED):
        file = parquet.ParquetFile(path, memory_map=False)
        header = [str(name) for name in file.schema_arrow.names]
        _check_declared_rows(path, file.metadata, header)
    with contextlib.closing(file):
        yield CsvTable(path, header, _iterate_rows(path, file))


def _check_declared_rows(path: Path, metadata: Any, header: list[str]) -> None:
    if not header or metadata.num_columns != len(header) or len(set(header)) < len(header):
        raise InputError(
            f"{path} must have plain columns with different names, got {', '.join(header[:20]) or 'no columns'}; "
            "flatten nested columns and rename duplicates"
        )
    cells, limit = metadata.num_rows * len(header), max(SMALL_TABLE, CELLS_PER_BYTE * path.stat().st_size)
    uncompressed = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if not (0 <= cells <= limit and 0 <= uncompressed <= limit):
        raise InputError(f"{path} declares {metadata.num_rows} rows, too many for its size; write it again")
    check_free_memory(path, BYTES_PER_CELL * cells)


def _iterate_rows(path: Path, file: Any) -> Iterator[tuple[str, list[Any]]]:
    count = 0
    with translate_errors(path, *DAMAGED):
        batches = file.iter_batches(batch_size=BATCH_ROWS, use_threads=False)
    while True:
        with translate_errors(path, *DAMAGED):
            batch = next(batches, None)
            columns = [] if batch is None else [column.to_pylist() for column in batch.columns]
        if batch is None:
            return
        for cells in zip(*columns, strict=True):
            count += 1
            yield f"row {count}", list(cells)
