"""A parquet file, read a batch of rows at a time (pyarrow, optional)."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bagwise.errors import InputError
from bagwise.formats.blaming import blaming
from bagwise.formats.claims import check_memory
from bagwise.formats.csv_files import Table
from bagwise.formats.optional import need

DAMAGED = ("is not a whole parquet file", "write it again")

ROWS_AT_ONCE = 4096
CELL = 8  # bytes of one in memory
CELLS_PER_BYTE = 100  # run lengths can hide many equal cells in few bytes, but not more than this in real tables
FEW = 1 << 22  # cells that any table may have


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[Table]:
    """Open a parquet file as a table like any other."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; check the path")
    parquet = need("pyarrow.parquet", path, "tables")
    with blaming(path, *DAMAGED):
        file = parquet.ParquetFile(path, memory_map=False)
        header = [str(name) for name in file.schema_arrow.names]
        _check_claims(path, file.metadata, header)
    with contextlib.closing(file):
        yield Table(path, header, _rows(path, file))


def _check_claims(path: Path, metadata: Any, header: list[str]) -> None:
    if not header or metadata.num_columns != len(header) or len(set(header)) < len(header):
        raise InputError(
            f"{path} must have plain columns of different names; it has {', '.join(header[:20]) or 'none'}"
        )
    cells, room = metadata.num_rows * len(header), max(FEW, CELLS_PER_BYTE * path.stat().st_size)
    held = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if not (0 <= cells <= room and 0 <= held <= room):
        raise InputError(f"{path} claims {metadata.num_rows} rows, more than its size can hold; write it again")
    check_memory(path, CELL * cells)


def _rows(path: Path, file: Any) -> Iterator[tuple[str, list[Any]]]:
    count = 0
    with blaming(path, *DAMAGED):
        batches = file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False)
    while True:
        with blaming(path, *DAMAGED):
            batch = next(batches, None)
            columns = [] if batch is None else [column.to_pylist() for column in batch.columns]
        if batch is None:
            return
        for cells in zip(*columns, strict=True):
            count += 1
            yield f"row {count}", list(cells)
