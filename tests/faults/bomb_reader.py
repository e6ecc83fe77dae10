"""Reading of files with a limit on the memory that each file may allocate.

As a script, it reads a JSON list of (name, reader, path, bound in bytes), opens the files one after the other, and
prints the outcomes by name.
"""

import json
import resource
import sys
from pathlib import Path

import numpy as np

from bagwise.bags.folder import load_bags
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.formats.clam import Clam
from bagwise.data.formats.matlab import read_prtools
from bagwise.data.formats.stamp import Stamp
from bagwise.data.formats.svm_light import read_svm_light
from bagwise.data.formats.tables import read_table
from bagwise.data.formats.tensors import read_tensor
from bagwise.data.formats.trident import Trident
from bagwise.data.slides.image_bags import read_image
from bagwise.errors import InputError
from bagwise.estimators import BagEstimator
from bagwise.explain.heatmaps.backgrounds import open_background
from bagwise.io.numpy_files import read_npy, read_npz
from faults.memory_limit import limit_growth

READERS = {
    "npz": lambda path: read_npz(path, "arr_0"),
    "npy": read_npy,
    "unchecked npy": np.load,
    "pt": read_tensor,
    "mat": read_prtools,
    "svm": read_svm_light,
    "gz": read_content,
    "parquet": read_table,
    "png": read_image,
    "tif": read_image,
    "bmp": read_image,
    "clam": lambda path: Clam(path.parent.parent).read(path.stem),
    "trident": lambda path: Trident(path.parent).read(path.stem),
    "stamp": lambda path: Stamp(path.parent, 0.5).read(path.stem),
    "model": BagEstimator.load,
    "bags": load_bags,
    "background": open_background,
}


def read(reader, path, bound):
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit_growth(bound)
    try:
        READERS[reader](Path(path))
    except InputError as error:
        return f"rejected: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    return "opened"


if __name__ == "__main__":
    print(json.dumps({name: read(*request) for name, *request in json.load(sys.stdin)}))
