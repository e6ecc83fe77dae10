"""MATLAB files (.mat, versions 5 to 7.2), and the PRTools data sets in them.

The reader supports numeric arrays, character arrays, cells and structs, and never executes code. SciPy's reader
allocates as much memory as a file declares and can crash the process on a damaged file; this reader never reads past
the end of the file, and decompresses at most ``MAX_BYTES``.

Musk, Fox, Tiger and Elephant are distributed as PRTools data sets: the variable ``x`` has ``data`` (instances ×
features) and, for each instance, ``nlab`` (1 negative, 2 positive) and ``ident.milbag`` (its bag).
"""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bagwise.bags import Bags
from bagwise.errors import InputError

HEADER_BYTES = 128
MAX_RATIO = 1032  # the highest compression ratio of deflate
MAX_BYTES = 1 << 28  # of the decompressed arrays of one file
MAX_ELEMENTS, MAX_DEPTH = 1_000_000, 16

ARRAY, COMPRESSED = 14, 15  # types of elements that contain others
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8", 17: "u2", 18: "u4"}
UTF8 = 16
CELL, STRUCT, OBJECT, CHARACTERS, NUMBERS = 1, 2, 3, 4, range(6, 16)  # classes of arrays
COMPLEX = 0x0800


def read_prtools(path: Path) -> Bags:
    """Read the bags of a PRTools file, with their names and with labels 0 and 1; features are not scaled."""
    columns = _read_columns(path)
    features, classes, owners = columns.features, columns.classes, columns.owners
    if features.ndim != 2 or {len(classes), len(owners)} != {len(features)} or not len(features):
        raise InputError(
            f"{path}: data (shape {features.shape}), nlab ({len(classes)}) and ident.milbag ({len(owners)}) must have "
            "one row per instance; export the data set again"
        )
    are_plain = features.dtype.kind in "fuib" and classes.dtype.kind in "fui" and owners.dtype.kind in "Ufui"
    if not are_plain or not np.isin(classes, (1, 2)).all():
        raise InputError(
            f"{path}: data must be numbers, nlab 1 (negative) or 2 (positive), and ident.milbag numbers or strings; "
            "export the data set again"
        )
    exact = np.result_type(features.dtype, np.float32)  # integers become the smallest float that represents them
    is_text = owners.dtype.kind == "U"  # MATLAB pads text with spaces
    names = np.char.strip(owners) if is_text else np.array([f"{owner:.15g}" for owner in owners.tolist()])
    return pack_rows(features.astype(exact), names, classes.astype(int) - 1, str(path))


class _Columns(NamedTuple):
    """The features, the class and the bag of each instance."""

    features: np.ndarray
    classes: np.ndarray
    owners: np.ndarray


def _read_columns(path: Path) -> _Columns:
    variable = read_matlab(path, "x")
    try:
        return _Columns(
            features=np.asarray(variable["data"]),
            classes=np.ravel(variable["nlab"]),
            owners=np.ravel(variable["ident"]["milbag"]),
        )
    except (IndexError, KeyError, TypeError):
        raise InputError(
            f"{path} is not a PRTools data set of bags: x must have data, nlab and ident.milbag; "
            "export a csv file with one row per instance instead"
        ) from None


def pack_rows(instances: np.ndarray, owners: np.ndarray, labels: np.ndarray, source: str) -> Bags:
    """Pack a table with one row per instance into bags, in the order of their first rows.

    Parameters
    ----------
    instances : ndarray of shape (n_instances, ...)
        The features of each instance.
    owners : ndarray of shape (n_instances,)
        The name of the bag of each instance.
    labels : ndarray of shape (n_instances,)
        The label of the bag of each instance.
    source : str
        The name of the table in error messages.

    Returns
    -------
    Bags

    Raises
    ------
    InputError
        If instances of one bag have different labels.

    Examples
    --------
    >>> pack_rows(np.eye(3), np.array(["b", "a", "b"]), np.array([1, 0, 1]), "table").names.tolist()
    ['b', 'a']
    """
    names, first, indices = np.unique(owners, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[indices]
    differs = labels != labels[first][indices]
    if differs.any():
        row = int(np.argmax(differs))
        raise InputError(
            f"{source}: bag '{owners[row]}' has two labels, {labels[first][indices][row]} and {labels[row]} "
            f"(instance {row + 1}); all instances of a bag must have its label"
        )
    return Bags(
        instances[np.argsort(ranks, kind="stable")],
        np.concatenate([[0], np.cumsum(np.bincount(ranks))]),
        labels=labels[np.sort(first)],
        names=names[np.argsort(first)].astype(str),
    )


def read_matlab(path: Path, variable: str) -> Any:
    """Read one variable of a MATLAB file.

    Parameters
    ----------
    path : Path
        The file.
    variable : str
        The name of the variable.

    Returns
    -------
    ndarray or dict
        An array of numbers, of strings (one per row) or, for cells, of objects; a dictionary of fields for a struct.

    Raises
    ------
    InputError
        If the file is not a MATLAB file of a supported version, is damaged, or lacks the variable.
    """
    content = Path(path).read_bytes()
    if content.startswith(b"MATLAB 7.3"):
        raise InputError(f"{path} is a MATLAB 7.3 file; save it with -v7")
    if content[HEADER_BYTES - 2 : HEADER_BYTES] not in (b"IM", b"MI"):
        raise InputError(f"{path} is not a MATLAB file (version 5 to 7.2); check that it is the right file")
    parser = _Parser("little" if content[HEADER_BYTES - 2] == ord("I") else "big")
    try:
        for element in parser.iterate_arrays(memoryview(content)[HEADER_BYTES:]):
            if parser.parse_name(element) == variable:
                return parser.parse_value(element)
    except (zlib.error, ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path} is damaged ({error}); restore it from a copy or download it again") from None
    raise InputError(f"{path} has no variable '{variable}'; check that it is the right file")


class _Element(NamedTuple):
    kind: int
    body: memoryview


class _Parser:
    """Parser of the elements of one file, up to MAX_ELEMENTS elements and MAX_BYTES decompressed bytes."""

    def __init__(self, byte_order: Literal["little", "big"]) -> None:
        self.byte_order = byte_order
        self.elements_left, self.bytes_left = MAX_ELEMENTS, MAX_BYTES

    def iterate_arrays(self, body: memoryview) -> Iterator[_Element]:
        """Yield the arrays of a file; each is decompressed only when it is reached."""
        for element in self.iterate_elements(body):
            if element.kind != COMPRESSED:
                yield element
                continue
            yield from self.iterate_elements(memoryview(self.decompress(element.body)))

    def iterate_elements(self, body: memoryview) -> Iterator[_Element]:
        """Yield consecutive elements; an element of up to four bytes is stored in its eight-byte tag."""
        offset = 0
        while offset + 8 <= len(body):
            self.elements_left -= 1
            kind, length = (int.from_bytes(body[offset + at : offset + at + 4], self.byte_order) for at in (0, 4))
            is_small = kind > 0xFFFF
            if is_small:
                kind, length = kind & 0xFFFF, kind >> 16
            start = offset + (4 if is_small else 8)
            if self.elements_left < 0 or start + length > len(body) or (is_small and length > 4):
                raise ValueError("it has too many elements, or one that is longer than the file")
            yield _Element(kind, body[start : start + length])
            offset = offset + 8 if is_small else start + (length if kind == COMPRESSED else -(-length // 8) * 8)

    def decompress(self, body: memoryview) -> bytes:
        """Decompress one array, whose first bytes declare its length."""
        decompressor = zlib.decompressobj()
        tag = decompressor.decompress(body, 8)
        length = int.from_bytes(tag[4:], self.byte_order)
        self.bytes_left -= length
        if self.bytes_left < 0 or length > MAX_RATIO * len(body):
            raise ValueError(f"it would decompress to {length:,} bytes, which is implausible")
        return tag + decompressor.decompress(decompressor.unconsumed_tail, length) if length else tag

    def parse_name(self, element: _Element) -> str:
        """Return the name of a variable, which is the third element of its array."""
        _, _, name, *_ = self.iterate_elements(element.body)
        return bytes(name.body).decode("latin-1")

    def parse_value(self, element: _Element, depth: int = MAX_DEPTH) -> Any:
        """Return the contents of an array; nested arrays are parsed in the same way."""
        if element.kind != ARRAY or depth == 0:
            raise ValueError("an element that should be an array is not one")
        if not element.body:
            return np.zeros((0, 0))
        flags, dimensions, _, *content = self.iterate_elements(element.body)
        number = int.from_bytes(flags.body[:4], self.byte_order)
        kind, sizes = number & 0xFF, self.parse_numbers(dimensions).tolist()
        if kind in (STRUCT, OBJECT):
            return self.parse_fields(content[kind == OBJECT :], math.prod(sizes), depth)
        if kind == CELL:
            values = np.empty(len(content), dtype=object)
            for index, part in enumerate(content):
                values[index] = self.parse_value(part, depth - 1)
        elif kind == CHARACTERS:
            values = self.parse_characters(*content)
        elif kind in NUMBERS and not number & COMPLEX:
            values = self.parse_numbers(*content)
        else:
            raise ValueError("it contains arrays of an unsupported class")
        shaped = values.reshape(np.maximum(sizes, 0), order="F")  # ValueError if the number of values differs
        return np.array(["".join(row) for row in shaped]) if kind == CHARACTERS else shaped

    def parse_fields(self, content: list[_Element], count: int, depth: int) -> dict[str, Any]:
        """Return the fields of a struct; for an array that does not have exactly one struct, return no fields."""
        if count != 1:
            return {}
        width, names, *values = content
        length = int(self.parse_numbers(width)[0])
        text = bytes(names.body).decode("latin-1")
        if length * len(values) != len(text):
            raise ValueError("a struct has different numbers of names and fields")
        keys = [text[length * index : length * (index + 1)].rstrip("\0") for index in range(len(values))]
        return {key: self.parse_value(value, depth - 1) for key, value in zip(keys, values, strict=True)}

    def parse_characters(self, element: _Element) -> np.ndarray:
        """Return the characters of an element, one per entry."""
        if element.kind == UTF8:
            return np.frombuffer(bytes(element.body).decode().encode("utf-32-le"), "<U1")
        return self.parse_numbers(element).astype(np.uint32, casting="same_kind").view("U1")

    def parse_numbers(self, element: _Element) -> np.ndarray:
        """Return the numbers of an element in native byte order."""
        if element.kind not in TYPES:
            raise ValueError("it contains numbers of an unknown type")
        stored = np.dtype(TYPES[element.kind]).newbyteorder("<" if self.byte_order == "little" else ">")
        return np.frombuffer(element.body, stored).astype(stored.newbyteorder("="))
