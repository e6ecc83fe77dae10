import struct

import h5py
import pytest

from bagwise.errors import InputError
from bagwise.formats.h5_heap import SIGNATURE, check_heaps


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs.update({f"name {number}": "word" * number for number in range(6)})
    return tmp_path / "a.h5"


def test_a_heap_as_h5py_writes_it_is_whole(path):
    check_heaps(path)


@pytest.mark.parametrize("size", [120, 1 << 40])
def test_a_heap_that_would_be_walked_for_ever_is_refused(path, size):
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, content.find(SIGNATURE) + 16 + 8, size)
    path.write_bytes(content)
    with pytest.raises(InputError, match="has no end"):
        check_heaps(path)


def test_lengths_of_another_width_are_refused(path):
    content = bytearray(path.read_bytes())
    content[14] = 4
    path.write_bytes(content)
    with pytest.raises(InputError, match="unusual kind"):
        check_heaps(path)
