"""UCI Musk ``.data`` files: one line ``molecule,conformation,feature,…,class`` per instance, without a header."""

import csv
from pathlib import Path

from bagwise.bags import Bags
from bagwise.data.formats.cells import parse_number
from bagwise.data.formats.tables import BagPacker
from bagwise.errors import InputError


def read_uci_musk(path: str | Path) -> Bags:
    """Read a ``.data`` file, in which a bag is a molecule and an instance is a conformation.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Bags
        Bags in the order of their first rows, with labels.

    Raises
    ------
    InputError
        If a line has another number of values than the first line, a value is not a number, or the rows of a molecule
        have different classes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "musk.data"
    >>> _ = path.write_text("MUSK-1,1_1,42,-198,1.\\nNON-1,2_1,40,-191,0.\\n")
    >>> read_uci_musk(path).labels
    array([1, 0])
    """
    path = Path(path)
    packer, width = BagPacker(path), 0
    for line, cells in _read_lines(path):
        place = f"line {line}"
        width = width or len(cells)
        if len(cells) != width or width < 4:
            raise InputError(
                f"{path}, {place} has {len(cells)} values, but the first line has {width}; every line must have a "
                "molecule, a conformation, at least one feature and a class"
            )
        values = [
            parse_number(cell, f"{path}, {place}, value {column}") for column, cell in enumerate(cells[2:], start=3)
        ]
        packer.add(place, cells[0], values[:-1], label=_format_class(values[-1]))
    return packer.bags()


def _read_lines(path: Path) -> list[tuple[int, list[str]]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [(line, cells) for line, cells in enumerate(csv.reader(lines), start=1) if cells]
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8; check that it is a UCI .data file") from None
    except csv.Error as error:
        raise InputError(f"{path} is not a UCI .data file ({error}); check the path") from None


def _format_class(value: float) -> str:
    """Format the class without the decimal point of the file (0. and 1.)."""
    return str(int(value)) if value == int(value) else str(value)
