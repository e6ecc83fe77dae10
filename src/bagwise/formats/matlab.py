"""MATLAB files (.mat, version 5 to 7.2): arrays, texts, cells and structs of numbers, and nothing that could run.

SciPy's reader sets aside whatever memory a file declares, and can crash the whole process on a damaged one; this one
never reads past the file, nor unpacks more than a limit.
"""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bagwise.errors import InputError

HEADER = 128
MOST_COMPRESSED = 1032  # deflate's best
LIMIT = 1 << 28  # bytes, unpacked
ELEMENTS, DEPTH = 1_000_000, 16
ARRAY, PACKED = 14, 15  # kinds of elements that hold others
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8", 17: "u2", 18: "u4"}
UTF8 = 16
CELL, STRUCT, OBJECT, CHARACTERS, NUMBERS = 1, 2, 3, 4, range(6, 16)  # classes of arrays
COMPLEX = 0x0800


def read_matlab(path: Path, variable: str) -> Any:
    """One variable of a MATLAB file: an array, texts (one a row), an object array of cells, or a dict of fields."""
    content = Path(path).read_bytes()
    if content.startswith(b"MATLAB 7.3"):
        raise InputError(f"{path} is a MATLAB 7.3 file; save it with -v7")
    if content[HEADER - 2 : HEADER] not in (b"IM", b"MI"):
        raise InputError(f"{path} is not a MATLAB file (version 5 to 7.2); is it the right file?")
    reader = _Reader("little" if content[HEADER - 2] == ord("I") else "big")
    try:
        for element in reader.arrays(memoryview(content)[HEADER:]):
            if reader.name(element) == variable:
                return reader.value(element)
    except (zlib.error, ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy or fetch it again") from None
    raise InputError(f"{path} has no variable '{variable}'; is it the right file?")


class _Element(NamedTuple):
    kind: int
    body: memoryview


class _Reader:
    """Elements → values; no data set has more than ELEMENTS of them, or more bytes than LIMIT."""

    def __init__(self, order: Literal["little", "big"]) -> None:
        self.order = order
        self.left, self.room = ELEMENTS, LIMIT

    def elements(self, body: memoryview) -> Iterator[_Element]:
        """The elements laid end to end; one of up to four bytes shares its tag's eight."""
        place = 0
        while place + 8 <= len(body):
            self.left -= 1
            kind, length = (int.from_bytes(body[place + at : place + at + 4], self.order) for at in (0, 4))
            is_small = kind > 0xFFFF
            if is_small:
                kind, length = kind & 0xFFFF, kind >> 16
            start = place + (4 if is_small else 8)
            if self.left < 0 or start + length > len(body) or (is_small and length > 4):
                raise ValueError("its elements are longer than the file, or too many")
            yield _Element(kind, body[start : start + length])
            place = place + 8 if is_small else start + (length if kind == PACKED else -(-length // 8) * 8)

    def arrays(self, body: memoryview) -> Iterator[_Element]:
        """The elements of a file, each unpacked when its turn comes."""
        for element in self.elements(body):
            if element.kind != PACKED:
                yield element
                continue
            yield from self.elements(memoryview(self.unpacked(element.body)))

    def unpacked(self, body: memoryview) -> bytes:
        """One array, which says how long it is before it is unpacked."""
        unpacking = zlib.decompressobj()
        tag = unpacking.decompress(body, 8)
        length = int.from_bytes(tag[4:], self.order)
        self.room -= length
        if self.room < 0 or length > MOST_COMPRESSED * len(body):
            raise ValueError(f"it would unpack to {length:,} bytes, more than can be true")
        return tag + unpacking.decompress(unpacking.unconsumed_tail, length) if length else tag

    def name(self, element: _Element) -> str:
        """The name of a variable, which is the third element of its array."""
        _, _, name, *_ = self.elements(element.body)
        return bytes(name.body).decode("latin-1")

    def value(self, element: _Element, depth: int = DEPTH) -> Any:
        """What an array holds; arrays within arrays are read alike."""
        if element.kind != ARRAY or depth == 0:
            raise ValueError("something else stands where an array should be")
        if not element.body:
            return np.zeros((0, 0))
        flags, dimensions, _, *content = self.elements(element.body)
        number = int.from_bytes(flags.body[:4], self.order)
        kind, sizes = number & 0xFF, self.numbers(dimensions).tolist()
        if kind in (STRUCT, OBJECT):
            return self.fields(content[kind == OBJECT :], math.prod(sizes), depth)
        if kind == CELL:
            values = np.empty(len(content), dtype=object)
            for place, part in enumerate(content):
                values[place] = self.value(part, depth - 1)
        elif kind == CHARACTERS:
            values = self.signs(*content)
        elif kind in NUMBERS and not number & COMPLEX:
            values = self.numbers(*content)
        else:
            raise ValueError("it holds arrays of a kind that no data set needs")
        shaped = values.reshape(np.maximum(sizes, 0), order="F")  # ValueError if there are more or fewer than declared
        return np.array(["".join(row) for row in shaped]) if kind == CHARACTERS else shaped

    def fields(self, content: list[_Element], count: int, depth: int) -> dict[str, Any]:
        """The fields of a single struct; an array of several is not needed."""
        if count != 1:
            return {}
        width, names, *values = content
        length = int(self.numbers(width)[0])
        text = bytes(names.body).decode("latin-1")
        if length * len(values) != len(text):
            raise ValueError("a struct has more names than fields, or fewer")
        keys = [text[length * place : length * (place + 1)].rstrip("\0") for place in range(len(values))]
        return {key: self.value(each, depth - 1) for key, each in zip(keys, values, strict=True)}

    def signs(self, element: _Element) -> np.ndarray:
        """The characters of an element, one by one."""
        if element.kind == UTF8:
            return np.frombuffer(bytes(element.body).decode().encode("utf-32-le"), "<U1")
        return self.numbers(element).astype(np.uint32, casting="same_kind").view("U1")

    def numbers(self, element: _Element) -> np.ndarray:
        """The numbers of an element, in the machine's own byte order."""
        if element.kind not in TYPES:
            raise ValueError("numbers of an unknown type")
        stored = np.dtype(TYPES[element.kind]).newbyteorder("<" if self.order == "little" else ">")
        return np.frombuffer(element.body, stored).astype(stored.newbyteorder("="))
