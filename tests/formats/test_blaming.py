from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats.blaming import blaming


def test_any_error_becomes_a_refusal_with_its_first_line():
    with (
        pytest.raises(InputError, match=r"^a\.h5 is damaged \(first\); copy it again$"),
        blaming(Path("a.h5"), "is damaged", "copy it again"),
    ):
        raise RuntimeError("first\nsecond")


def test_a_refusal_passes_as_it_is():
    with pytest.raises(InputError, match=r"^already said$"), blaming(Path("a.h5"), "is damaged", "copy it again"):
        raise InputError("already said")
