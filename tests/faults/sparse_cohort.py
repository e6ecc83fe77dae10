"""A folder of large bags as a sparse file, which takes almost no disk space: 5,000 × 1,024 float16 rows per bag."""

import numpy as np

from bagwise.bags.folder import BagWriter
from bagwise.io.numpy_files import write_array, write_npy_header
from resealing import reseal

ROWS, WIDTH = 5_000, 1_024


def write_sparse_cohort(folder, n_bags):
    """Write a folder of bags of two classes; all but a few rows of each bag are zeros that are not stored."""
    with BagWriter(folder) as writer:
        for bag in range(n_bags):
            writer.add(np.zeros((1, WIDTH), dtype=np.float16), name=f"slide-{bag}", label=bag % 2)
    n_rows = n_bags * ROWS
    write_array(folder / "offsets.npy", np.arange(0, n_rows + 1, ROWS))
    with (folder / "instances.npy").open("wb") as stream:
        write_npy_header(stream, (n_rows, WIDTH), np.dtype(np.float16))
        header = stream.tell()
        for bag in range(n_bags):
            stream.seek(header + 2 * bag * ROWS * WIDTH)
            stream.write(np.random.default_rng(bag).normal(bag % 2, 1, size=(2, WIDTH)).astype(np.float16).data)
        stream.truncate(header + 2 * n_rows * WIDTH)
    reseal(folder, n_instances=n_rows)
