"""The heaps in which an h5 file keeps its words, walked before libhdf5 does: a damaged one can make it walk for ever.

    GCOL | version 1 | size | object … | free space        object: index, count, size, content padded to 8 bytes

Free space is the object with index 0, and reaches to the end of its heap.
"""

import mmap
import struct
from pathlib import Path

from bagwise.errors import InputError

SIGNATURE = b"GCOL\x01\x00\x00\x00"
SUPERBLOCK = b"\x89HDF\r\n\x1a\n"
HEAD = 16


def check_heaps(path: Path) -> None:
    """Refuse a file with a heap that does not end where it says."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        sizes = content[13:15] if content[8:9] in (b"\x00", b"\x01") else content[9:11]
        if content[:8] != SUPERBLOCK or sizes != b"\x08\x08":
            raise InputError(f"{path} is damaged or of an unusual kind of h5; make it again")
        start = content.find(SIGNATURE)
        while start >= 0:
            if not _ends_well(content, start):
                raise InputError(f"{path} is damaged: the heap of its words at byte {start} has no end; make it again")
            start = content.find(SIGNATURE, start + 1)


def _ends_well(content: mmap.mmap, start: int) -> bool:
    if start + HEAD > len(content):
        return False
    end = start + struct.unpack_from("<Q", content, start + 8)[0]
    if end > len(content):
        return False
    place = start + HEAD
    while place + HEAD <= end:
        index, size = struct.unpack_from("<H6xQ", content, place)
        if index == 0:
            return place + size == end
        place += HEAD + (size + 7) // 8 * 8
    return place <= end
